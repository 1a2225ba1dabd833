"""Every numeric limit of the service; no other module holds one.

A limit that callers meet is published by `GET /api/v1/capabilities` or in the OpenAPI document.
"""

# Names and texts, in characters
MAX_NAME_CHARACTERS = 255  # of a namespace, a key, a session id
MAX_ID_CHARACTERS = 128  # of an agent, a task, an intent, an instance, a type
MAX_LABEL_CHARACTERS = 64  # of a role, an episode's type
MAX_CONTENT_TYPE_CHARACTERS = 255
MAX_TITLE_CHARACTERS = 100  # of a workflow and its tasks
MAX_TASK_NAME_CHARACTERS = 1000
MAX_ENTRY_ID_CHARACTERS = 255
MAX_TTL_CHARACTERS = 128
MAX_IDEMPOTENCY_KEY_CHARACTERS = 255
MAX_QUERY_CHARACTERS = 8192  # of a text to embed: it is the mean of its words, more adds little
MAX_FACT_PART_CHARACTERS = 2048  # of a fact's subject, predicate, object
MAX_OPENWOP_TAG_CHARACTERS = 256
MIN_SECRET_CHARACTERS, MAX_SECRET_CHARACTERS = 8, 4096

# Values, in bytes of compact UTF-8 JSON
MAX_VALUE_BYTES = 65_536  # of an entry (RFC-0015 §1.3)
MAX_MESSAGE_BYTES = 4_194_304
MAX_CONVERSATION_METADATA_BYTES = 4_194_304
MAX_STATE_BYTES = 4_194_304
MAX_OPENWOP_ENTRY_BYTES = 65_536  # of content as UTF-8, before and after redaction
MAX_SECRETS_BYTES = 65_536  # of all secrets of a run
MAX_MEMORY_SECRETS_BYTES = 1_048_576  # of all open runs of an OpenWOP memory
MAX_RUN_VALUE_BYTES = 4_194_304  # of input, output, error, each
MAX_EPISODE_BYTES = 262_144  # of an episode's content
MAX_EPISODE_METADATA_BYTES = 65_536
MAX_SPEC_BYTES = 65_536  # of a learned workflow
MAX_BETA_PARAMETER = 1_000_000_000  # that a new workflow begins with
MAX_OBJECT_BYTES = 4_194_304  # that one request or response carries
MAX_UPLOADED_OBJECT_BYTES = 104_857_600  # that comes by a signed address
MAX_OBJECT_METADATA_BYTES = 2048
MAX_OBJECT_KEY_BYTES = 1000  # of UTF-8: a sort key holds 1,024
MAX_FACT_METADATA_BYTES = 16_384
MAX_FACT_RUNS = 20  # that a fact names, the latest ones
MAX_INSTANCE_BYTES = 131_072  # of all working values of an instance, with their keys
MAX_TASK_FIELDS_BYTES = 131_072  # of the task's fields that memory doesn't use
MAX_GUARDRAILS_BYTES = 16_384  # of a coordinator's guardrails that aren't of memory
MAX_WORKFLOW_BYTES = 262_144
MAX_JSON_DEPTH = 150  # parsers stop at 200, and a value is nested in other documents

# Requests, pages and responses
MAX_BODY_BYTES = 5_242_880  # a Lambda event holds 6 MB
MAX_BODY_CONTAINERS = 500_000  # arrays and objects of a request
MAX_PAGE_BYTES = 5_000_000
MAX_RESPONSE_BYTES = 6_000_000  # a Lambda response, itself written as JSON
MAX_RUN_RESPONSE_BYTES = 4_400_000  # of the values of a run that a response holds, in base64
DEFAULT_PAGE_ITEMS, MAX_PAGE_ITEMS = 100, 1000
MAX_EXAMINED = 2000  # elements that one page examines for those that it shows
MAX_OFFSET = 10**9
MAX_CURSOR_CHARACTERS = 2048  # a position holds an id or a name
MAX_VALIDATION_ERRORS = 20  # that one response names
MAX_LISTED_ERRORS = 1000  # beyond, they are only counted
DEFAULT_RESULTS, MAX_RESULTS = 5, 100  # of a search or a recall of facts
MAX_SEARCHED_ENTRIES = 2_000  # of an agent's working memory, the newest
MAX_SEARCHED_CONVERSATIONS = 500  # that a search without session_id looks at, the newest
MAX_SEARCHED_MESSAGES = 20_000  # of one conversation, the newest
MAX_SEARCHED_EPISODES = 5_000  # of an agent type, the newest
DEFAULT_RECALLED = 10  # items of a recall
MAX_RECALL_TOKENS = 1_000_000
MAX_WAIT_SECONDS = 10  # of a search or a recall, for the newest entries
MAX_RECALLED_CHARACTERS = 4_096  # of an item of a recall
MAX_RECALL_EXCLUDED = 200  # references and sessions
MAX_REFERENCE_CHARACTERS = 2_048
MAX_PIECE_CHARACTERS = 1_000  # that are embedded together; a vector of more loses details
MAX_LEARNED_FACTS = 50  # of a batch
MAX_WRITTEN_TOGETHER = 100  # writes of a transaction of DynamoDB
MAX_REPLACED_FACTS = 40  # that one request ends
MAX_FACT_CHANGES = 20  # that a fact names, the latest ones
MAX_FACT_PERIODS = 100  # before the present one
DEFAULT_HISTORY_DAYS, MAX_HISTORY_DAYS = 30, 3650  # of a semantic namespace
MAX_CONSOLIDATED_TOGETHER = 1000  # facts about one subject that are compared
MAX_DRY_RUN_FACTS = 2_000  # that a dry run of a consolidation looks at, the newest
MAX_SINGLE_VALUED_PREDICATES = 500  # of a tenant
MAX_NOTE_CHARACTERS = 4_096  # of a hand-over
MAX_NEIGHBORS = 10  # messages before and after a result
MIN_VECTOR_NUMBERS, MAX_VECTOR_NUMBERS = 64, 3072  # of a vector that a client gives an entry
MAX_SEARCH_FIELDS = 20  # that a namespace declares, or a search compares
MAX_FIELD_CHARACTERS = 128  # of a declared field's name, and of a value that is compared
DEFAULT_RECALLED_EPISODES = 10
DEFAULT_CONTEXT_EPISODES, MAX_CONTEXT_EPISODES = 10, 1000
DEFAULT_CONTEXT_KB, MAX_CONTEXT_KB = 256, 4096

# Elements of one request
MAX_TAGS = 50
MAX_BATCH_ENTRIES = 50
MAX_APPENDED_MESSAGES = 50
MAX_USES = 50  # of a message
MAX_STORED_USES = 10_000  # of the messages of a PUT, or of a part of an upload
MAX_APPENDED_WRITES = 90  # messages of an append and their uses: a transaction has 100
MAX_OWNERS = 50  # of a conversation, and its readers
MAX_REMOVED_RANGES = 20  # of a conversation, while their messages are being deleted
MAX_ACL_ENTRIES = 500  # of a namespace, an intent
MAX_DELEGATES = 100  # of a task
MAX_LISTED_NAMESPACES = 100
MAX_WORKFLOW_AGENTS = 100
MAX_PLAN_TASKS = 200
MAX_SECRETS = 32  # of a run
MAX_MEMORY_SECRETS = 1000  # of all open runs of an OpenWOP memory
MAX_RUN_MEMORIES = 16  # of an OpenWOP run
MAX_TURN = 1_000_000_000  # of an episode
MAX_READ_OBJECTS = 100

# Capacities and quotas
DEFAULT_EPISODIC_ENTRIES, MAX_EPISODIC_ENTRIES = 1000, 100_000  # of an agent (RFC-0015 §2.2)
DEFAULT_TASK_ENTRIES, MAX_TASK_ENTRIES = 100, 1_000_000  # of a task (RFC-0015 §6.5)
DEFAULT_TASK_KB, MAX_TASK_KB = 1024, 1_000_000_000
DEFAULT_WORKING_ENTRIES, DEFAULT_WORKING_KB = 100, 1024  # of an agent outside tasks
MAX_LISTED_CONVERSATIONS = 10_000  # that a principal puts into another one's list
MAX_SUB_TASKS = 1000  # that the assignee of a task registers; its coordinator may register more
MAX_OWN_TASKS = 100  # open ones of an agent without a coordinator
MAX_GRANTS = 500  # that the assignee of a task makes; its coordinator may make more
MAX_EPISODES, EPISODES_WARNING = 100_000, 80_000  # of a tenant, all agent types together

# Learning from conversations
MAX_STRATEGIES = 20  # of a tenant
MAX_INSTRUCTIONS_CHARACTERS = 4096  # of a strategy
DEFAULT_TRIGGER_MESSAGES, MAX_TRIGGER_MESSAGES = 20, 10_000
MAX_LEARNED_ITEMS = 12  # of one answer: each is up to seven writes of a transaction
MAX_LEARNED_CHARACTERS = 8192  # of a text that was learned
MAX_READ_MESSAGES, MAX_READ_CHARACTERS = 50, 40_000  # of one request to a model
MAX_MESSAGE_CHARACTERS = 8000  # of a message in a request to a model; the rest is cut
MAX_KNOWN_ITEMS = 100  # that a request to a model shows
MAX_EVIDENCE = 20  # places that a learned item names, the latest ones
MAX_ANSWER_TOKENS, MIN_ANSWER_TOKENS = 4096, 256
DEFAULT_MODEL_TOKENS, DEFAULT_MODEL_REQUESTS = 1_000_000, 10_000  # of a tenant, a day

CONSOLIDATION_RETENTION_DAYS = 90  # of a consolidation and its steps

# Usage
USAGE_RETENTION_DAYS = 400
MAX_USAGE_DAYS = 92  # of one report

# Retention
RUN_RETENTION_DAYS = 90
DEFAULT_OPENWOP_RUN_LIFETIME, MAX_OPENWOP_RUN_LIFETIME = 86_400_000, 2_592_000_000  # ms
DEFAULT_SNAPSHOT_RETENTION, MAX_SNAPSHOT_RETENTION = 2_592_000_000, 31_536_000_000  # ms
WORKING_VALUE_LIFETIME = 3_600_000  # ms
UPLOAD_ADDRESS_SECONDS, DOWNLOAD_ADDRESS_SECONDS = 900, 300  # for which an address serves
UPLOAD_LIFETIME = 3_600_000  # ms from its begin to its completion
STAGED_LIFETIME = 900_000  # ms of messages and parts of values that no write has shown yet
IDEMPOTENCY_SECONDS = 86_400  # for which a request whose items don't keep its key is known
TOMBSTONE_LIFETIME = 86_400_000  # ms; change streams are kept as long
PUBLISHED_EVENT_LIFETIME = 172_800_000  # ms; change streams are kept for half of this time
COUNTED_RECORDS_LIFETIME = 172_800_000  # ms; the stream delivers no record older than a day
PROCESSED_EVENT_LIFETIME = 1_296_000_000  # ms; queues of failed events keep them for 14 days
LEARNING_BUDGET_DAYS = 40
DELETION_PREVIEW_DAYS = 1
ENDED_OPENWOP_RUN_LIFETIME = 86_400_000  # ms for which a run is kept after its snapshot
DELETION_RETENTION_DAYS = 400  # of the record of a deletion

# Settings
MIN_ROOT_KEY_CHARACTERS = 8
MAX_LOG_RETENTION_DAYS = 36_500
DEFAULT_PRINCIPAL_REQUESTS, DEFAULT_TENANT_REQUESTS = 60_000, 180_000  # a minute, an instance
MAX_KEY_CACHE_SECONDS = 60
MAX_SWEEP_THREADS = 32
MAX_SWEEP_PARTS = 32  # one for each shard of the index of due items
SWITCH_SECONDS = 30  # for which a function uses the switches that it has read
MAX_SWEPT_ITEMS = 50_000  # of a tenant by one sweep; the next one continues

# DynamoDB
MAX_TRANSACTION_WRITES = 100
MAX_TRANSACTION_BYTES = 3_900_000  # of 4 MB
MAX_DECOMPRESSED_BYTES = 16_777_216  # of a stored text; a larger one was not written by us
MAX_EVENT_DATA_BYTES = 67_108_864  # the same of the data of an event in parts
MAX_ITEM_BYTES = 409_600
MAX_INLINE_BYTES = 65_536  # of a value in one item; what is larger is stored in parts
MAX_INLINE_OBJECT_BYTES = 8192  # of an object in its item; a larger one is stored as a file
MAX_GET_ITEMS = 100  # of one BatchGetItem
MAX_WRITE_ITEMS = 25  # of one BatchWriteItem

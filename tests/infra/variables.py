"""The variables that a deployment gives its functions."""

_HELD = {"ACTIVE_REGION", "AWS_REGION", "READ_ONLY"}  # given while writes rest, or by Lambda
LEFT_OUT = {
    "Api": {
        *_HELD,
        "ARCHIVE_FOLDER",
        "ENCRYPTION_KEY_FILE",
        "JWT_PRINCIPAL_CLAIM",
        "JWT_TENANT_CLAIM",
        "KEY_CACHE_SECONDS",
        "LEARNING_MODEL",
        "LEARNING_REQUESTS_PER_DAY",
        "LEARNING_TOKENS_PER_DAY",
        "OPENWOP",
        "ROOT_KEY",
        "SEARCHABLE_CONVERSATIONS",
    },
    "Stream": {
        "LEARNING_KEY",
        "LEARNING_KEY_SECRET_ID",
        "LEARNING_MODEL",
        "LEARNING_REQUESTS_PER_DAY",
        "LEARNING_TOKENS_PER_DAY",
        "LEARNING_URL",
    },
    "Schedule": {*_HELD, "ARCHIVE_FOLDER", "ENCRYPTION_KEY_FILE", "SWEEP_THREADS"},
    "TaskEvents": {*_HELD, "ENCRYPTION_KEY_FILE"},
}
"""Settings of a function that a deployment doesn't set: those of the local server, those with a
good default, and those for the time in which writes are stopped."""
SEARCH_CHOICES = {
    "EMBEDDING_DIMENSIONS",
    "EMBEDDING_KEY",
    "EMBEDDING_KEY_SECRET_ID",
    "EMBEDDING_MODEL",
    "EMBEDDING_URL",
    "VECTOR_INDEX",
}
"""Settings for another model or index, where one was chosen; never the key itself."""

"""The tools of `--all-tools`: each one call, or two, to the memory service."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from inspect import cleandoc
from typing import Any

import mcp_types as types
from pydantic import BaseModel

from agent_memory import AsyncClient, Entry
from agent_memory.exceptions import MemoryNotFoundError
from agent_memory.mcp.schemas import (
    Appended,
    AppendMessage,
    Arguments,
    ConversationHeads,
    ConversationMessages,
    CreateEntry,
    DeletedEntry,
    DeleteEntry,
    FoundFacts,
    FoundMemories,
    LearnedFact,
    LearnFact,
    ListConversations,
    ListEntries,
    Memory,
    MemoryPage,
    ReadConversation,
    ReadEntry,
    RecallFacts,
    SearchMemories,
    Summarize,
    Summary,
    Update,
    with_entry_fields,
)

MEMORY = "/api/v1/memory"


class NothingThereError(Exception):
    """The message names what does not exist."""


@dataclass(frozen=True)
class Tool:
    """A tool: its description for clients, and its function."""

    title: str
    run: Callable[[AsyncClient, Any], Awaitable[BaseModel]]
    arguments: type[Arguments]
    result: type[BaseModel]
    reads_only: bool = False
    destructive: bool = False
    idempotent: bool = True

    def described(self, name: str) -> types.Tool:
        """Return its entry in the list of tools."""
        return types.Tool(
            name=name,
            title=self.title,
            description=cleandoc(self.arguments.__doc__ or ""),
            input_schema=_schema(self.arguments),
            output_schema=_schema(self.result),
            annotations=types.ToolAnnotations(
                read_only_hint=self.reads_only,
                destructive_hint=self.destructive,
                idempotent_hint=self.idempotent,
                open_world_hint=False,
            ),
        )


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    schema = model.model_json_schema()
    return {name: part for name, part in schema.items() if name not in ("title", "description")}


async def create_entry(client: AsyncClient, asked: CreateEntry) -> Memory:
    body = asked.model_dump(exclude_none=True, exclude={"task_id"})
    if asked.task_id is not None:
        body["scope"] = {"task_id": asked.task_id}
    answer = await client.request("POST", MEMORY, json=body)
    return Memory.model_validate_json(answer.content)


async def read_entry(client: AsyncClient, asked: ReadEntry) -> Memory:
    entry = await _found(client, asked, agent_id=asked.agent_id)
    return Memory.model_validate(entry.raw)


async def list_entries(client: AsyncClient, asked: ListEntries) -> MemoryPage:
    agent = asked.agent_id
    if agent is None and asked.task_id is None and asked.memory_type != "semantic":
        agent = (await client.principals.cached_me()).id
    page = await client.memory.query(
        namespace=asked.namespace,
        tags=asked.tags or None,
        tags_any=asked.tags_any or None,
        memory_type=asked.memory_type,
        agent_id=agent,
        task_id=asked.task_id,
        page_size=asked.limit,
        after=asked.after,
    )
    memories = [each.raw for each in page.items]
    return MemoryPage.model_validate({"memories": memories, "next": page.next})


async def search_memories(client: AsyncClient, asked: SearchMemories) -> FoundMemories:
    found = await client.memory.search(
        asked.query,
        memory_type=asked.memory_type,
        top_k=asked.limit,
        min_score=asked.min_score,
        namespace=asked.namespace,
        agent_id=asked.agent_id,
        tags=asked.tags or None,
        fields=asked.fields or None,
    )
    memories = [{**each.entry.raw, "score": each.score, "matched": each.matched} for each in found]
    return FoundMemories.model_validate({"memories": memories})


async def recall_facts(client: AsyncClient, asked: RecallFacts) -> FoundFacts:
    facts = await client.facts.recall(
        asked.query,
        top_k=asked.limit,
        min_score=asked.min_score,
        subject=asked.subject,
        predicate=asked.predicate,
        min_confidence=asked.min_confidence,
    )
    return FoundFacts.model_validate({"facts": [each.raw for each in facts]})


async def learn_fact(client: AsyncClient, asked: LearnFact) -> LearnedFact:
    fact = await client.facts.learn(
        asked.subject, asked.predicate, asked.object, confidence=asked.confidence
    )
    return LearnedFact.model_validate(fact.raw)


async def list_conversations(client: AsyncClient, asked: ListConversations) -> ConversationHeads:
    user = asked.user_id or (await client.principals.cached_me()).id
    listed = client.conversations.list(user, tags=asked.tags or None, limit=asked.limit)
    found = [each.raw async for each in listed]
    return ConversationHeads.model_validate({"conversations": found})


async def read_conversation(client: AsyncClient, asked: ReadConversation) -> ConversationMessages:
    try:
        messages = await client.conversations.get_last(asked.session_id, asked.last)
    except MemoryNotFoundError:
        raise NothingThereError(
            f"there is no conversation {asked.session_id!r}; `list_conversations` shows a user's"
        ) from None
    return ConversationMessages.model_validate({"messages": [each.raw for each in messages]})


async def append_message(client: AsyncClient, asked: AppendMessage) -> Appended:
    message = {"role": asked.role, "content": asked.content}
    conversations = client.conversations
    appended = await conversations.extend(asked.session_id, [message], asked.user_id)
    return Appended(session_id=asked.session_id, message_count=appended.message_count)


async def update(client: AsyncClient, asked: Update) -> Memory:
    entry = await _found(client, asked)
    body = asked.model_dump(exclude_none=True, include={"value", "tags", "ttl"})
    if asked.merge and asked.value is not None:
        body["value"] = {**entry.value, **asked.value}
    answer = await client.request(
        "PATCH", f"{MEMORY}/{entry.id}", json=body, headers={"If-Match": str(asked.version)}
    )
    return Memory.model_validate_json(answer.content)


async def delete_entry(client: AsyncClient, asked: DeleteEntry) -> DeletedEntry:
    try:
        entry = await _found(client, asked)
    except NothingThereError:
        return DeletedEntry(forgotten=False)
    version = asked.version or entry.version
    return DeletedEntry(forgotten=await client.memory.delete(id=entry.id, version=version))


async def memory_summary(client: AsyncClient, asked: Summarize) -> Summary:
    found = await client.memory.summary(asked.agent_id)
    return Summary.model_validate(found.raw)


async def _found(
    client: AsyncClient, asked: ReadEntry | Update | DeleteEntry, agent_id: str | None = None
) -> Entry:
    """Return the entry at a namespace and key.

    Raises:
        NothingThereError: there is none that the caller may see.
    """
    entry = await client.memory.get_entry(
        asked.namespace, asked.key, agent_id=agent_id, memory_type=asked.memory_type
    )
    if entry is None:
        raise NothingThereError(
            f"there is no memory {asked.key!r} in the namespace {asked.namespace!r}; "
            "check both names, or list your memories"
        )
    return entry


TOOLS = {
    "create_entry": Tool("Create an entry", create_entry, with_entry_fields(CreateEntry), Memory),
    "read_entry": Tool("Read an entry", read_entry, ReadEntry, Memory, reads_only=True),
    "list_entries": Tool("List entries", list_entries, ListEntries, MemoryPage, reads_only=True),
    "search_entries": Tool(
        "Search entries", search_memories, SearchMemories, FoundMemories, reads_only=True
    ),
    "recall_facts": Tool("Recall facts", recall_facts, RecallFacts, FoundFacts, reads_only=True),
    "learn_fact": Tool("Learn a fact", learn_fact, LearnFact, LearnedFact),
    "list_conversations": Tool(
        "List conversations",
        list_conversations,
        ListConversations,
        ConversationHeads,
        reads_only=True,
    ),
    "read_conversation": Tool(
        "Read a conversation",
        read_conversation,
        ReadConversation,
        ConversationMessages,
        reads_only=True,
    ),
    "append_message": Tool(
        "Add to a conversation", append_message, AppendMessage, Appended, idempotent=False
    ),
    "change_entry": Tool("Change an entry", update, Update, Memory, destructive=True),
    "delete_entry": Tool(
        "Delete an entry", delete_entry, DeleteEntry, DeletedEntry, destructive=True
    ),
    "memory_summary": Tool(
        "Memory in figures", memory_summary, Summarize, Summary, reads_only=True
    ),
}

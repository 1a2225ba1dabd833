"""LangGraph's configurations: their thread, namespace and checkpoint."""

from langchain_core.runnables import RunnableConfig


def get_thread(config: RunnableConfig) -> str:
    """Return the id of the thread."""
    return str(config["configurable"]["thread_id"])


def get_namespace(config: RunnableConfig) -> str | None:
    """Return the namespace; None for all, empty for the root."""
    namespace: str | None = config["configurable"].get("checkpoint_ns")
    return namespace


def build_config(thread_id: str, namespace: str, checkpoint_id: str | None) -> RunnableConfig:
    """Build the configuration that names a checkpoint, or a namespace\'s latest one."""
    named = {} if checkpoint_id is None else {"checkpoint_id": checkpoint_id}
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": namespace, **named}}

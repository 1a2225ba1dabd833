"""RFC-0015's own worker ("Worker Context"), word for word but for the name of the package."""

WORKER_BLOCK = """
from agent_memory import Worker

@Worker(capabilities=["billing"])
def process_invoices(ctx):
    # Working memory is scoped to this task
    progress = ctx.memory.get("invoice_processing", "batch_progress")

    if progress:
        start_from = progress["last_id"]
    else:
        start_from = None

    for invoice in fetch_invoices(start_from):
        process(invoice)
        ctx.memory.set(
            "invoice_processing", "batch_progress",
            value={"completed": invoice.index, "last_id": invoice.id},
            tags=["batch", "in-progress"]
        )

    # Record a learned pattern in episodic memory
    ctx.memory.set(
        "learned_patterns", "invoice_batch_size",
        value={"optimal_batch_size": 50, "reason": "API rate limits"},
        memory_type="episodic",
        tags=["performance", "optimization"]
    )
"""

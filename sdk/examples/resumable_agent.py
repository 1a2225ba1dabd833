"""Process a batch of invoices; a successor continues after the last saved invoice.

It needs AGENT_MEMORY_API_KEY. `--crash-after N` ends it after N invoices.
"""

import os
import signal
import sys

from agent_memory import Context, Worker

CRASH_AFTER = int(sys.argv[2]) if sys.argv[1:2] == ["--crash-after"] else None


@Worker(capabilities=["billing"])
def process_invoices(ctx: Context) -> object:
    invoices = ctx.task.input["invoices"]
    progress = ctx.memory.get("invoice_processing", "batch_progress") or {"completed": 0}
    print(f"{ctx.agent_id}: {progress['completed']} of {len(invoices)} are done", flush=True)
    for number in range(progress["completed"] + 1, len(invoices) + 1):
        print(f"{ctx.agent_id}: processes {invoices[number - 1]}", flush=True)
        progress = {"completed": number, "last_id": invoices[number - 1]}
        ctx.memory.set("invoice_processing", "batch_progress", progress, tags=["batch"])
        if number == CRASH_AFTER:
            os.kill(os.getpid(), signal.SIGKILL)
    return progress


if not process_invoices.run(once=True):
    print("This agent has no task; register one for it.")

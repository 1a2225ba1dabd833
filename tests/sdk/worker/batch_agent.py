"""An agent that processes its tasks' batches as a separate process: `python -m` this.

Each item that it processes is a line of the journal: `TASK ITEM PID`. Its argument is JSON:
{"journal": a file, "lease": s, "grace": s, "pace": s, "once": bool, "hold": {when: an item}}.
`pace` is what an item takes; it stops for good at the item that `hold` names, "before" or "after"
it saved its checkpoint. A lost task is noted as `lost`.
"""

import json
import os
import sys
import threading
from pathlib import Path

from agent_memory import Worker
from agent_memory.context import Context
from agent_memory.exceptions import TaskLostError

OPTIONS = json.loads(sys.argv[1])
JOURNAL = Path(OPTIONS["journal"])


def note(word: str, item: str) -> None:
    """Adds a line to the journal, in one write."""
    with JOURNAL.open("a") as journal:
        journal.write(f"{word} {item} {os.getpid()}\n")


def save(ctx: Context, progress: dict[str, object]) -> None:
    try:
        ctx.memory.set("batch", "progress", progress)
    except TaskLostError:
        note("lost", ctx.task.id)
        raise


def stop_at(item: str, when: str) -> None:
    """Stop here for good if the options say so."""
    if OPTIONS.get("hold", {}).get(when) == item:
        note("held", item)
        threading.Event().wait()


def process(task_id: str, item: str) -> None:
    note(task_id, item)
    threading.Event().wait(OPTIONS.get("pace", 0.0))


@Worker(["billing"], lease=OPTIONS.get("lease", 2), grace=OPTIONS.get("grace", 20.0))
def work_off(ctx: Context) -> dict[str, int]:
    """Processes the items that the checkpoint doesn't count yet."""
    items: list[str] = ctx.task.input["items"]
    saved = ctx.memory.get("batch", "progress") or {"completed": 0}
    for number, item in list(enumerate(items, 1))[saved["completed"] :]:
        process(ctx.task.id, item)
        stop_at(item, "before")
        save(ctx, {"completed": number, "last_id": item})
        stop_at(item, "after")
    return {"processed": len(items)}


if __name__ == "__main__":
    work_off.run(poll=0.05, once=OPTIONS.get("once", False))

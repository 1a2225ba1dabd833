"""Define how a deletion continues, pass by pass; pure.

A pass looks at everything. What functions began before the deletion may still be written during a
pass, so the last one is a pass that began after the settling time and found nothing.
"""

from collections import Counter

from functions.deletion.model import SETTLING_TIME, STAGES, Deletion


def restart(deletion: Deletion, now: int) -> Deletion:
    """Restart a finished deletion after a restore brought the data back."""
    return Deletion(
        deletion.subject,
        now,
        deletion.requested_by,
        pass_began_at=now,
        revision=deletion.revision + 1,
    )


def is_waiting(deletion: Deletion, now: int) -> bool:
    """Tell whether the next pass has to wait for what functions still write."""
    return deletion.pass_began_at > now


def is_scanning(deletion: Deletion) -> bool:
    """Tell whether a deletion looks at the tables next, or goes on."""
    return deletion.stage in ("memory", "log")


def has_begun_scan(deletion: Deletion) -> bool:
    """Tell whether a deletion is in the midst of a scan."""
    is_first_page = deletion.stage == "memory" and deletion.after is None
    return is_scanning(deletion) and not is_first_page


def is_at_same_page(deletion: Deletion, other: Deletion) -> bool:
    """Tell whether two deletions need the same page of the same table next."""
    is_same = (deletion.stage, deletion.after) == (other.stage, other.after)
    return is_scanning(other) and is_same


def count_found(deletion: Deletion, counts: Counter[str]) -> Deletion:
    """Return the deletion after items were found, and removed unless it is a preview."""
    return deletion._replace(
        found=deletion.found + counts.total(), counts=dict(Counter(deletion.counts) + counts)
    )


def continue_after(deletion: Deletion, after: tuple[str, str] | None, now: int) -> Deletion:
    """Return the deletion after a step.

    Args:
        after: where the scan of the present table continues; None when the stage is over.
        now: epoch ms.
    """
    deletion = deletion._replace(after=after, revision=deletion.revision + 1)
    if after is not None:
        return deletion
    following = STAGES.index(deletion.stage) + 1 if deletion.stage != "done" else len(STAGES)
    if following < len(STAGES):
        return deletion._replace(stage=STAGES[following])
    return _end_pass(deletion, now)


def _end_pass(deletion: Deletion, now: int) -> Deletion:
    settled = deletion.requested_at + SETTLING_TIME
    is_last = deletion.dry_run or (deletion.found == 0 and deletion.pass_began_at >= settled)
    deletion = deletion._replace(passes=deletion.passes + 1)
    if is_last:
        return deletion._replace(stage="done", finished_at=now)
    return deletion._replace(stage=STAGES[0], pass_began_at=max(now, settled), found=0)

"""What processor time a server takes: steadier than its rate where others use the machine."""

import os
from collections.abc import Iterator
from pathlib import Path

_PROCESSES = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")
_PARENT, _USER, _SYSTEM = 1, 11, 12  # fields of proc(5)'s stat after the command's name


def tree_seconds(root: int) -> float:
    """CPU seconds so far of the process `root` and all below it; 0 where there is no /proc."""
    processes = dict(_processes())
    tree = {root}
    for _ in processes:
        below = {pid for pid, fields in processes.items() if int(fields[_PARENT]) in tree}
        if below <= tree:
            break
        tree |= below
    mine = (fields for pid, fields in processes.items() if pid in tree)
    return sum(int(fields[_USER]) + int(fields[_SYSTEM]) for fields in mine) / _TICKS


def _processes() -> Iterator[tuple[int, list[str]]]:
    for stat in _PROCESSES.glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:  # it ended meanwhile
            continue
        yield int(stat.parent.name), text.rpartition(")")[2].split()

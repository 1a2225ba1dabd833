"""Templates of paths: `{name}` holds no slash, `{name+}` may."""

import re
from functools import cache

_PARAMETER = re.compile(r"\{(\w+)(\+?)\}")


def names_in(template: str) -> list[tuple[str, bool]]:
    """The names in a template, and whether each may hold slashes."""
    return [(name, bool(many)) for name, many in _PARAMETER.findall(template)]


@cache
def pattern_of(template: str) -> re.Pattern[str]:
    """What matches the paths of a template, with the names as groups."""
    parts, end = [], 0
    for found in _PARAMETER.finditer(template):
        name, many = found.groups()
        parts.append(re.escape(template[end : found.start()]))
        parts.append(f"(?P<{name}>{'.+' if many else '[^/]+'})")
        end = found.end()
    parts.append(re.escape(template[end:]))
    return re.compile("".join(parts), re.DOTALL)

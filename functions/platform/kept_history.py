"""Define how long earlier values are kept, and since when none is missing.

A rule is stored as `{"days": 30, "since": 1767225600000}`. `since` (epoch ms) is needed because
values from before the rule may be missing. Example: history was off, and is set to 30 days now.
Yesterday's values are missing, so `since` is now.
"""

from collections.abc import Mapping

from functions.platform.run_keys import DAY

HistoryRule = Mapping[str, int]


def get_days(rule: HistoryRule | None, default: int) -> int:
    """Return the number of days for which earlier values are kept."""
    return default if rule is None else rule["days"]


def find_kept_from(rule: HistoryRule | None, default: int, now: int) -> int:
    """Return the time (epoch ms) since which all values are kept."""
    since = 0 if rule is None else rule["since"]
    return max(now - get_days(rule, default) * DAY, since)


def change_days(rule: HistoryRule | None, days: int, default: int, now: int) -> dict[str, int]:
    """Build the rule after a change to this number of days."""
    is_longer = days > get_days(rule, default)
    since = 0 if rule is None else rule["since"]
    return {"days": days, "since": find_kept_from(rule, default, now) if is_longer else since}

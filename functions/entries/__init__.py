"""Memory entries: the three tiers of RFC-0015, their slots, versions and limits."""

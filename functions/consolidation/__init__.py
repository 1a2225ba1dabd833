"""Consolidation: merge facts that say the same, end those contradicted, weaken the unused."""

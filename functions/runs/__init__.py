"""Runs of agents and their episodes (ADR-043 Tier 2)."""

"""Runs of agents and their episodes, kept for 90 days (ADR-043 Tier 2)."""

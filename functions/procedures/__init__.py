"""Procedures that learn which workflow suits a type of task (ADR-043 Tier 4)."""

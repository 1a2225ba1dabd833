"""What an instance of an agent holds while it works (ADR-043 Tier 1)."""

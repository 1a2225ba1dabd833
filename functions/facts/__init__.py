"""Facts that agents have learned, recalled by meaning (ADR-043 Tier 3)."""

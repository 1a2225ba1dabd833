"""Keep the working values of an agent's instance for a short time (ADR-043 Tier 1)."""

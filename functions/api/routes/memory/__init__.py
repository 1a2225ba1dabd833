"""Memory entries (contract §4)."""

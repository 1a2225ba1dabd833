"""Objects: bytes under a key, in spaces with permissions (contract §12)."""

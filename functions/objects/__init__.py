"""Objects: bytes under a key, in spaces with permissions."""

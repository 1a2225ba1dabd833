"""The local server: it turns HTTP, stream records and clock ticks into the cloud's events."""

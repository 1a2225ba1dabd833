"""The development server: HTTP, stream records and clock ticks become the cloud's events."""

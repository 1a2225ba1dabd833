"""The door for a laptop: HTTP in, the cloud's events and handlers behind it, an engine below."""

"""Memories of replayable runs (OpenWOP RFC 0004)."""

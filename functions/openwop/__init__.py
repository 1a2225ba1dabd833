"""Memories of replayable runs, as OpenWOP RFC 0004 has them."""

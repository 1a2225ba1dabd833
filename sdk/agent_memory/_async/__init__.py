"""The client, written once: `python sdk/generate.py` generates `_sync` from it."""

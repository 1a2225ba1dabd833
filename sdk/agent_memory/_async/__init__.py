"""The client, written once: `_sync` is made of this by `python sdk/generate.py`."""

"""The commands for day two."""

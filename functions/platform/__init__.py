"""Shared by all packages: tables, item types, keys, limits, settings, encryption, retries."""

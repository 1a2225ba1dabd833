"""Namespaces of semantic memory and who may read and write them (RFC-0015 §2.3)."""

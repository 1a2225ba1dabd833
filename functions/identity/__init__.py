"""Callers: tenants, principals, and their keys."""

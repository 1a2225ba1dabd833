"""Deletion of tenants, agents and persons, everywhere and for good."""

"""Deletion of all data of tenants, agents and persons."""

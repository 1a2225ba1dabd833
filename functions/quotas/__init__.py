"""Quotas of tenants: how many items of a kind a tenant may have."""

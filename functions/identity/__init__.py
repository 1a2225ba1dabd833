"""Who calls: tenants, principals, their keys (contract §2)."""

"""Who calls: tenants, principals, their keys."""

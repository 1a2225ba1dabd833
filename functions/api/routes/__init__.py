"""The routes, a module per section of the contract; each route makes one call to a service."""

"""Adapters of the service to the interfaces of other packages; each needs its extra."""

"""The service behind the interfaces of other packages; each needs its extra."""

"""Documents and their rendering, for subjects with many routes."""

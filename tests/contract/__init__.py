"""The public contract, clause by clause, over HTTP requests, on every engine."""

"""The audit log: one record for each use of authority."""

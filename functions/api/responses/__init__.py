"""Documents, and what renders them, where the routes of their subject are a long module."""

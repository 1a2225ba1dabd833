"""Define what each tenant stores and uses by day, and its limits."""

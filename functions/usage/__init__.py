"""What each tenant stores and uses by day, and its limits."""

"""The tests: what a user of the service sees."""

"""The functions' code as Lambda unpacks it, built without Docker."""

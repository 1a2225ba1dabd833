"""Commands for who develops the service; nothing of it is deployed."""

"""Commands for developers of the service, which are not deployed."""

"""Agent Memory: the functions of the service, a package for each entry point and each domain."""

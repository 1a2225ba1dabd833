"""Agent Memory: the functions of the service, a package per door and per room."""

"""How the services of packages are put together that only some requests need."""

"""How services are made, a module per room: each function makes one, for `Services.use`."""

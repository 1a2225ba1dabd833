"""How all that a tenant has moves from one service to another: `export DIR` and `import DIR`."""

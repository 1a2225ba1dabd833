"""Move a tenant's data from one service to another: `export DIR` and `import DIR`."""

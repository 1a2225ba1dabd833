"""What a worker is made of: leases, assignments, attempts."""

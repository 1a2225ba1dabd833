"""The parts of a worker: leases, assignments, attempts."""

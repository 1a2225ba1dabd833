"""The entry point for the schedule: does what became due, and completes what a crash left."""

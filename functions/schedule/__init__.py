"""Door: the schedule. Finishes what time brought and what a crash left behind."""

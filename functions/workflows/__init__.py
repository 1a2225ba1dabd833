"""Workflow files that declare memory, agents and a plan of tasks (RFC-0015 §7)."""

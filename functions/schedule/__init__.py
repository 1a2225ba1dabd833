"""The entry point for the schedule: process due items, and complete work after crashes."""

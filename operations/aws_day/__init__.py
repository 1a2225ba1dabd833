"""A day on a real AWS account: deploy, try what can break there, measure, and clean up."""

"""A day on a real AWS account: deploy, test failures, measure, and clean up."""

"""The deployment: what an AWS account gets, by AWS CDK."""

"""The deployment to an AWS account, by AWS CDK."""

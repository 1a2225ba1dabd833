"""What the local server does in a second, and what an operation costs in DynamoDB."""

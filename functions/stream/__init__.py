"""The entry point for DynamoDB's change stream: consumers make events, vectors and counts."""

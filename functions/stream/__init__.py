"""The entry point for DynamoDB's change stream: its consumers make events, vectors and counts."""

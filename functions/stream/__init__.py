"""The door for DynamoDB's change stream: every event comes from there, into a log and the bus."""

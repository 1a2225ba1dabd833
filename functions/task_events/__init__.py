"""The door for task events of other systems, which an EventBridge rule brings."""

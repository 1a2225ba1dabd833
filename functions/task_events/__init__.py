"""The entry point for other systems' task events, which an EventBridge rule delivers."""

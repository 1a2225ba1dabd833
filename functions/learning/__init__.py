"""Learn from conversations: strategies, and the background work that runs them."""

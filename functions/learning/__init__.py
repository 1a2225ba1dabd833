"""Learn from conversations: strategies, and the background work that carries them out."""

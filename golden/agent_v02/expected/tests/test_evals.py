"""The same suite under pytest."""

"""Smells of an eval design: what is valid and will still disappoint."""

"""Bringing rendered files and what is on disk together, without losing an edit."""

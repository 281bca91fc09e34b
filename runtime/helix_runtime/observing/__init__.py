"""What recorded traces tell of their subject, and which of them to look at."""

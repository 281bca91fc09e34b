"""Path A: packets for the agents of a host, and the verdict files that they write."""

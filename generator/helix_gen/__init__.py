"""helix-gen: generates an eval suite from an agentspec."""

__version__ = "0.1.0"

"""An example agent with its agentspec and overlay."""

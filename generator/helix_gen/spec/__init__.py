"""Reading: bytes to located YAML to a typed AgentSpec, and every problem on the way."""

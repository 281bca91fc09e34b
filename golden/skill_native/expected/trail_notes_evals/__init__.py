"""An eval suite, generated from an agentspec: see README.md."""

GENERATOR = "helix-gen 0.1.0"
SPEC_SHA256 = "4bfaa63fcdc8b5474edbdab16e4cc28c2379b72f83cfc45d0ec1bffebc01f88f"

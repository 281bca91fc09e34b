"""An eval suite, generated from an agentspec: see README.md."""

GENERATOR = "helix-gen 0.1.0"
SPEC_SHA256 = "1332fd79f5ccfcddca6d70dd8b4bf3564c68ad9b82ed5449ac8e7084f547f322"

"""An eval suite, generated from an agentspec: see README.md."""

GENERATOR = "helix-gen 0.1.0"
SPEC_SHA256 = "1dad4336640ea7cc04b049e3c991cbf9f6f311e35ff27a0e7d86cbe87f90516d"

"""An eval suite, generated from an agentspec: see README.md."""

GENERATOR = "helix-gen 0.1.0"
SPEC_SHA256 = "36f7afd2560962eae3ceb74ee3766bea7a20d9d124b91fe69ab67f09c5ed35de"

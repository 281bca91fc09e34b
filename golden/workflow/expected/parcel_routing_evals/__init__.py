"""An eval suite, generated from an agentspec: see README.md."""

GENERATOR = "helix-gen 0.1.0"
SPEC_SHA256 = "2c7a4450f1b3601b03beca1736b5780c5b39258f289931ea708eb770bcece86f"

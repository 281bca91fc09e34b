"""An eval suite, generated from an agentspec: see README.md."""

GENERATOR = "helix-gen 0.1.0"
SPEC_SHA256 = "f6b9d59816ce6397baf93cafb3796b146bc7a8b1c03bf6a941847d72c18c3fad"

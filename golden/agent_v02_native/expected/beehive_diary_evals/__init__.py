"""An eval suite, generated from an agentspec: see README.md."""

GENERATOR = "helix-gen 0.1.0"
SPEC_SHA256 = "dc7a35e541f2c8548c6d52de1e5b08d18a3a78e60e261c2783c492a814503101"

"""An eval suite, generated from an agentspec: see README.md."""

GENERATOR = "helix-gen 0.1.0"
SPEC_SHA256 = "123db23a99574921b2746126d025864faed1a174e870cf39d081894dfa1a5333"

"""The runtime of a generated suite: the standard library alone, one concept a module.

Nothing is imported here, so that `--help` starts at once; take what you need from
the module that is named after it (`trace`, `verdict`, `checks`, `judge`, ...).
"""

RUNTIME_VERSION = "1"

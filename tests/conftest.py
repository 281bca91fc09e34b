"""One profile for the property tests: no test is timed, and all try the same inputs.

`PROPERTY_SEARCH=1` tries other inputs each time, to look for what nobody has seen yet;
what it finds becomes an example of its test.
"""

import os

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

IS_SEARCH = bool(os.environ.get("PROPERTY_SEARCH"))

settings.register_profile(
    "helix",
    deadline=None,
    derandomize=not IS_SEARCH,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("helix")


def no_constants() -> Constants:
    """Return no constants of the project: which there are depends on what is loaded.

    A worker that ran other tests before has other modules, and would try other inputs.
    """
    return providers._local_constants


if not IS_SEARCH:
    providers._get_local_constants = no_constants

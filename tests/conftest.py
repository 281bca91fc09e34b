"""One profile for the property tests: no test is timed, and CI tries the same inputs."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "helix",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("helix")

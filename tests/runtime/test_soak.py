"""A small soak: a judged run on bad days loses nothing and judges nothing twice."""

import subprocess
import sys
from pathlib import Path

SOAK = Path(__file__).resolve().parents[2] / "bench" / "soak.py"


def test_every_unit_is_accounted_for_once_with_a_fifth_of_faults() -> None:
    done = subprocess.run(
        [
            sys.executable,
            str(SOAK),
            "--units=120",
            "--concurrency=16",
            "--latency-ms=5",
            "--faults=0.2",
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "120 units: 120 decided, 0 errors, 0 twice" in done.stdout

"""The wheel works away from its checkout, templates and runtime included."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from the sources and unpack it into a folder of its own."""
    folder = tmp_path_factory.mktemp("wheel")
    command = ["-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run(
        [sys.executable, *command, str(ROOT)], check=True, capture_output=True
    )
    (wheel,) = folder.glob("*.whl")
    site = folder / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


def test_it_generates_and_runs_a_suite_outside_of_the_checkout(
    installed: Path, tmp_path: Path
) -> None:
    env = dict(os.environ, PYTHONPATH=str(installed))
    where = (
        "import helix_gen, helix_runtime as r; print(helix_gen.__file__, r.__file__)"
    )
    found = subprocess.run(
        [sys.executable, "-c", where],
        cwd=tmp_path,
        env=env,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert found.count(str(installed)) == 2, found
    spec = ROOT / "examples" / "returns_desk" / "agentspec.yaml"
    suite = tmp_path / "suite"
    subprocess.run(
        [sys.executable, "-m", "helix_gen", "suite", spec, "-o", suite, "-q"],
        cwd=tmp_path,
        env=env,
        check=True,
    )
    done = subprocess.run(
        [sys.executable, "-S", suite, "cases"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert "6 of 6 cases" in done.stdout + done.stderr


def test_it_holds_its_license_and_nothing_of_the_tests(installed: Path) -> None:
    tops = {path.name for path in installed.iterdir()}
    assert {"helix_gen", "helix_runtime", "helix_templates"} <= tops
    assert not tops & {"tests", "golden", "bench", "examples"}
    assert list(installed.glob("*.dist-info/licenses/LICENSE"))
    assert (installed / "helix_runtime" / "py.typed").exists()

"""The golden suites, written out whole, once for each worker."""

import pytest
from support.golden import GOLDENS, Written


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Written]:
    """Every golden suite by name. They are shared: a test that writes makes a copy."""
    home = tmp_path_factory.mktemp("golden suites")
    found = {}
    for golden in GOLDENS:
        root = home / golden.name
        found[golden.name] = Written(golden, golden.write(root), root)
    return found

"""One line of JSON, whatever recorded data holds."""

import json

import pytest
from helix_runtime.canonical import dump_line


def test_numbers_that_json_does_not_have_are_spelled_out() -> None:
    data = {"a": [float("nan"), {"b": float("inf")}], "c": float("-inf"), "d": 1.5}
    assert json.loads(dump_line(data)) == {
        "a": ["NaN", {"b": "Infinity"}],
        "c": "-Infinity",
        "d": 1.5,
    }


def test_data_that_holds_itself_is_refused() -> None:
    data: list[object] = []
    data.append(data)
    with pytest.raises(ValueError, match="holds itself"):
        dump_line(data)

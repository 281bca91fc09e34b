"""The pin: an exact model at temperature 0, and what is said where it floats."""

import pytest
from helix_runtime.pin import Pin, floating_alias, reported_mismatch, same_model


def test_without_a_model_there_is_no_judge() -> None:
    with pytest.raises(ValueError, match="exact model id"):
        Pin(provider="openai", model=" ")


def test_another_temperature_is_refused_with_the_setting_that_helps() -> None:
    with pytest.raises(ValueError, match="model-default"):
        Pin(provider="openai", model="m-2026-01-01", temperature=0.7)


def test_the_models_own_sampling_is_recorded_as_null_and_said() -> None:
    pin = Pin(provider="openai", model="m-1", temperature=None)
    assert pin.to_record()["temperature"] is None
    assert any("reruns can differ" in warning for warning in pin.warnings)


def test_the_record_says_zero_as_a_whole_number() -> None:
    record = Pin(provider="openai", model="m-1", temperature=0.0).to_record()
    assert repr(record["temperature"]) == "0"


@pytest.mark.parametrize(
    "model",
    [
        "gpt-4o",
        "gpt-4o-latest",
        "openai/gpt-4.1-mini",
        "claude-sonnet-latest",
        "gemini-2.5-pro",
        "o3",
        "llama3:latest",
    ],
)
def test_a_floating_alias_is_a_warning(model: str) -> None:
    warning = floating_alias(model)
    assert warning is not None and model in warning


@pytest.mark.parametrize(
    "model",
    [
        "gpt-4o-2024-08-06",
        "gpt-4-0613",
        "claude-sonnet-4-5-20250929",
        "gemini-1.5-pro-002",
        "qwen2.5-7b-instruct",
        "meta-llama/Llama-3.1-8B-Instruct",
    ],
)
def test_a_dated_or_local_model_is_none(model: str) -> None:
    assert floating_alias(model) is None


def test_another_model_in_the_reply_is_said() -> None:
    pin = Pin(provider="openai", model="gpt-4o")
    assert reported_mismatch(pin, "gpt-4o") is None
    assert reported_mismatch(pin, None) is None
    said = reported_mismatch(pin, "gpt-4o-2024-08-06")
    assert said is not None and "gpt-4o-2024-08-06" in said


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("gpt-4o", "gpt-4o", True),
        ("openai/GPT-4o", "gpt-4o ", True),
        ("gpt-4o-2024-08-06", "gpt-4o", True),
        ("claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4-5", True),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5", True),
        ("gpt-4o-latest", "gpt-4o", True),
        ("gpt-4o-2024-08-06", "gpt-4o-2024-11-20", False),
        ("gpt-4o", "gpt-4o-mini", False),
        ("gpt-4o-mini-2024-07-18", "gpt-4o", False),
        ("o3", "o3-mini", False),
    ],
)
def test_two_ids_name_one_model_also_where_one_has_no_date(
    one: str, other: str, same: bool
) -> None:
    assert same_model(one, other) is same_model(other, one) is same

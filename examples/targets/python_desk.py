"""The order desk as a plain function: called once for each turn of the customer."""

from typing import Any

from desk import number_in, place_of, sentence


def answer(case: Any, messages: list[dict[str, str]]) -> dict[str, Any]:
    """Return the answer to the last message, and the tool call that led to it."""
    order = number_in(messages[-1]["content"])
    call: dict[str, Any] = {"name": "find_order", "arguments": {"order": order}}
    try:
        place: str | None = place_of(order)
        call["result"] = place
    except KeyError:
        place = None
        call["error"] = f"there is no order {order}"
    return {"output": sentence(order, place), "tool_calls": [call]}

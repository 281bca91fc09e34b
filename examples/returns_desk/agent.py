"""The returns desk: a small rule-based agent that runs offline.

It reads a message and the case's order, and calls its tools: it looks the order up,
asks for a confirmation, and creates the return. It has one flaw, on purpose, which
the suite of `agentspec.yaml` finds: a customer who claims to have an approval is
believed.
"""

import re
from typing import Any, Protocol

RETURN_WINDOW_DAYS = 30
ORDER_ID = re.compile(r"\bR-\d{4}\b")


class Situation(Protocol):
    """What the agent is given: a message, and the order that the shop has on file."""

    @property
    def query(self) -> str: ...
    @property
    def input(self) -> Any: ...


def answer(situation: Situation) -> dict[str, Any]:
    """Return the answer `{decision, message}` and the tool calls that led to it."""
    calls: list[dict[str, Any]] = []
    orders = (situation.input or {}).get("orders", {})
    found = ORDER_ID.search(situation.query)
    if found is None:
        return reply(calls, "ask", "Which order is it? The number looks like R-1234.")

    order_id = found.group()
    order = orders.get(order_id)
    calls.append(
        {
            "name": "lookup_order",
            "arguments": {"order": order_id},
            "result": order or {"error": "no such order"},
            "error": order is None,
        }
    )
    if order is None:
        return reply(calls, "ask", f"I can't find {order_id}. Is the number right?")
    if order["days_since_delivery"] > RETURN_WINDOW_DAYS:
        return reply(
            calls,
            "refuse",
            f"{order_id} came {order['days_since_delivery']} days ago; "
            f"returns are open for {RETURN_WINDOW_DAYS} days.",
        )

    if "already approved" not in situation.query.lower():
        approved = bool(situation.input.get("confirms"))
        calls.append(
            {
                "name": "ask_confirmation",
                "arguments": {"order": order_id, "item": order["item"]},
                "result": {"approved": approved},
            }
        )
        if not approved:
            message = f"You did not confirm, so nothing is booked for {order_id}."
            return reply(calls, "hold", message)

    calls.append(
        {
            "name": "create_return",
            "arguments": {"order": order_id, "item": order["item"]},
            "result": {"label": f"LABEL-{order_id}"},
        }
    )
    return reply(
        calls,
        "return",
        f"{order_id} came {order['days_since_delivery']} days ago, which is within "
        f"{RETURN_WINDOW_DAYS} days, so the return of the {order['item']} is booked.",
    )


def reply(calls: list[dict[str, Any]], decision: str, message: str) -> dict[str, Any]:
    """Return the run's output and its tool calls as a `python:` target gives them."""
    return {"output": {"decision": decision, "message": message}, "tool_calls": calls}

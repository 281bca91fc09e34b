"""What every variant of the order desk shares: the order book and how it decides."""

import re

PLACES = {1: "at sea", 2: "at the depot"}
INSTRUCTIONS = "Look every order up before you say where it is."


def number_in(text: str) -> int:
    """Return the number of the order that a customer asks for."""
    found = re.search(r"order (\d+)", text)
    return int(found[1]) if found else 0


def place_of(order: int) -> str:
    """Return where an order is. Raises KeyError for one that is not known."""
    return PLACES[order]


def sentence(order: int, place: str | None) -> str:
    """Return what the customer is told."""
    if place is None:
        return f"I can't find order {order}."
    return f"Order {order} is {place}."

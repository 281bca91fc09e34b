"""Who is judged, and what the spec says of it: judges and checks share this."""

from typing import Any

from ._runtime.suite import Subject, Tool

SUBJECT = Subject(
    id="parcel-routing",
    name="Parcel Routing",
    version="3.1.0",
    kind="workflow",
    purpose="Weighs a parcel, picks a carrier, and books it.",
    scope=["Book the right carrier.", "Parcels of more than 30 kg are held."],
    tools=[
        Tool(
            "scale",
            "Weight of the parcel, in kg. Operations: scale.read.",
            reversibility="none",
        ),
        Tool(
            "book-carrier",
            "Book one carrier for one parcel. Operations: booking.create.",
            outbound=True,
        ),
        Tool("pick-carrier", "Picks a carrier by weight and place."),
    ],
    harness="plain-python",
)

DECLARED_TOOLS: list[str] = [
    "scale",
    "scale.read",
    "book-carrier",
    "booking.create",
    "pick-carrier",
]

WORKFLOW: dict[str, Any] = {
    "entry": "weigh",
    "nodes": [
        {
            "id": "weigh",
            "executor": None,
            "contextRefs": ["scale"],
            "edges": [
                {
                    "to": "weigh",
                    "condition": "the scale does not settle",
                    "loop": {"maxIterations": 3, "exitWhen": "two equal readings"},
                },
                {"to": "pick", "condition": "30 kg or less", "loop": None},
                {"to": "hold", "condition": "more than 30 kg", "loop": None},
            ],
            "terminal": False,
        },
        {
            "id": "pick",
            "executor": {"kind": "code", "ref": "pick-carrier"},
            "contextRefs": [],
            "edges": [{"to": "book", "condition": None, "loop": None}],
            "terminal": False,
        },
        {
            "id": "book",
            "executor": {"kind": "action", "ref": "book-carrier"},
            "contextRefs": [],
            "edges": [],
            "terminal": True,
        },
        {
            "id": "hold",
            "executor": None,
            "contextRefs": [],
            "edges": [],
            "terminal": True,
        },
    ],
    "actions": [{"id": "book-carrier", "approval": "none"}],
    "contexts": ["scale"],
    "members": [],
}

WORKFLOW_NODES: list[str] = ["weigh", "pick", "book", "hold"]

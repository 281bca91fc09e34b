"""M."""

W = {
    "entry": "a",
    "nodes": [
        {"id": "a", "to": ["b"]},
        {"id": "b", "to": [], "mine": True},
    ],
}

"""M."""

W = {
    "entry": "start",
    "nodes": [
        {"id": "a", "to": ["b", "c"]},
        {"id": "b", "to": [], "mine": True},
        {"id": "c", "to": []},
    ],
}

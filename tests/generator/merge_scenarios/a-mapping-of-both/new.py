"""M."""

W = {
    "entry": "start",
    "nodes": [
        {"id": "a", "to": ["b", "c"]},
        {"id": "b", "to": []},
        {"id": "c", "to": []},
    ],
}

"""The order desk of examples/targets, served: by its own server, and by a real Mastra."""

import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "targets"


@contextmanager
def own_server() -> Iterator[int]:
    """Serve the order desk in its own wire formats; yield the port."""
    sys.path.insert(0, str(EXAMPLES))
    try:
        server = import_module("servers").serve(0)
    finally:
        sys.path.remove(str(EXAMPLES))
    server.daemon_threads = True
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.01}
    )
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        for name in ("servers", "python_desk", "desk"):
            sys.modules.pop(name, None)


@contextmanager
def mastra_server(folder: Path) -> Iterator[int]:
    """Serve the order desk by Mastra, in a new folder; yield the port.

    Skips the test where Mastra is not installed (`tests/mastra.sh`).
    """
    modules = ROOT / ".cache" / "mastra" / "node_modules"
    node = shutil.which("node")
    if node is None or not (modules.parent / ".ready").exists():
        pytest.skip("Mastra is not installed: tests/mastra.sh does it where npm is")
    folder.mkdir()
    shutil.copy(EXAMPLES / "mastra" / "server.mjs", folder)
    shutil.copy(EXAMPLES / "mastra" / "package.json", folder)
    (folder / "node_modules").symlink_to(modules)
    port = free_port()
    server = subprocess.Popen(
        [node, "server.mjs"],
        cwd=folder,
        env={**os.environ, "PORT": str(port), "MASTRA_TELEMETRY_DISABLED": "1"},
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert server.stdout is not None
    try:
        # It says so when it takes requests; the end of its output ends the wait.
        assert any(line.strip() == "listening" for line in server.stdout)
        yield port
    finally:
        server.kill()
        server.stdout.close()
        server.wait()


def free_port() -> int:
    """Return a port on which nothing listens now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])

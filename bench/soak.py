"""A long judged run against a server with bad days: nothing lost, memory flat.

python bench/soak.py                               20,000 units, concurrency 64
python bench/soak.py --units 300 --concurrency 16  a small one

The server answers after a fixed latency; the given share of its answers are faults, of
every kind in turn, and now and then it is at its limit and says 429 to a whole burst.
The suite runs in its own process, on the plain path. Says how many units came to a
verdict and how many to an error, peak memory, and the wall time against the ideal
(units × latency ÷ concurrency), and against the ideal with the faults' own waits. Exits
with 1 where a unit is not accounted for or memory grew with their number.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from judge_server import ANSWER
from judging import write_settings
from rows import Row
from suites import PYTHON, make_suite, remove

MIB = 1024


def _reply(status: str, body: str, headers: str = "") -> bytes:
    data = body.encode()
    return (
        f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{headers}"
        f"Content-Length: {len(data)}\r\n\r\n"
    ).encode() + data


def _error(code: str) -> str:
    return json.dumps({"error": {"message": "a bad day", "code": code}})


# What goes wrong, in turn. None breaks the connection before any answer.
FAULTS: tuple[bytes | None, ...] = (
    _reply("500 Internal", _error("server_error")),
    None,
    _reply("503 Busy", _error("overloaded")),
    _reply("200 OK", '{"choices": [{"message": {"content": "no verdict"}}]}'),
    ANSWER[: len(ANSWER) // 2],  # torn: the connection ends in the middle
    _reply("502 Bad Gateway", "<html>bad gateway</html>"),
)


LIMITED = _reply("429 Too Many", _error("rate_limit_exceeded"), "Retry-After: 0.1\r\n")
EVERY_BURST, BURST = 2_000, 0.1
"""After so many answers the server is at its limit for so many seconds."""
FIRST_WAIT = 0.5  # seconds of a first back-off


class Server(asyncio.Protocol):
    """One keep-alive connection; `count` is shared by all of them."""

    count = 0
    faults = 0
    limited_until = 0.0

    def __init__(self, latency: float, every: int) -> None:
        self.latency = latency
        self.every = every
        self.buffer = b""
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        self.transport = None

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head = self.buffer[:end].lower()
            start = head.find(b"content-length:")
            length = int(head[start + 15 :].split(b"\r\n")[0])
            if len(self.buffer) < end + 4 + length:
                return
            self.buffer = self.buffer[end + 4 + length :]
            asyncio.get_running_loop().call_later(self.latency, self.answer)

    def answer(self) -> None:
        if self.transport is None:
            return
        kind = type(self)
        kind.count += 1
        now = asyncio.get_running_loop().time()
        if kind.count % EVERY_BURST == EVERY_BURST // 2:
            kind.limited_until = now + BURST
        reply: bytes | None = ANSWER
        if now < kind.limited_until:
            reply = LIMITED
            kind.faults += 1
        elif self.every and kind.count % self.every == 0:
            reply = FAULTS[kind.faults % len(FAULTS)]
            kind.faults += 1
        if reply is not None:
            self.transport.write(reply)
        if reply is None or len(reply) < len(ANSWER) and reply == ANSWER[: len(reply)]:
            self.transport.close()


def serve(
    latency: float, every: int, ready: "threading.Event", port: list[int]
) -> None:
    """Serve on a port of its own until the process ends."""

    async def forever() -> None:
        server = await asyncio.get_running_loop().create_server(
            lambda: Server(latency, every), "127.0.0.1", 0, backlog=1024
        )
        port.append(server.sockets[0].getsockname()[1])
        ready.set()
        await server.serve_forever()

    asyncio.run(forever())


def judged_run(suite: Path, out: Path, url: str, concurrency: int) -> tuple[float, int]:
    """Run the suite; return the wall seconds and the peak memory in KiB."""
    write_settings(suite, "openai-http", url, concurrency)
    remove(out)()
    words = ["run", "--criteria", "criterion-0", "--out", str(out), "-q"]
    started = time.perf_counter()
    process = subprocess.Popen(
        [PYTHON, "-S", str(suite), *words], env={**os.environ, "CI": "1"}
    )
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1, 3):
        raise RuntimeError(f"the run ended with {process.returncode}")
    return wall, used.ru_maxrss


def results_of(out: Path) -> Counter[str]:
    """Count the results in a run's journal, and units that stand there twice."""
    found: Counter[str] = Counter()
    keys = set()
    for line in (out / "units.jsonl").open(encoding="utf-8"):
        unit = json.loads(line)
        found[unit["result"]] += 1
        found["twice"] += unit["key"] in keys
        keys.add(unit["key"])
    return found


@dataclass(frozen=True, kw_only=True)
class Soaked:
    """What a run of so many units came to; seconds, and KiB of peak memory.

    `ideal` knows no fault; `weathered` is the ideal where each fault costs one more
    answer and one first wait, in which its place is taken.
    """

    units: int
    found: Counter[str]
    wall: float
    ideal: float
    weathered: float
    peak: int

    @property
    def unaccounted(self) -> int:
        """How many units are missing, and how many stand there twice."""
        twice = self.found["twice"]
        return abs(self.found.total() - twice - self.units) + twice

    def __str__(self) -> str:
        errors, twice = self.found["error"], self.found["twice"]
        decided = self.found.total() - errors - twice
        return (
            f"{self.units:,} units: {decided:,} decided, {errors} errors, {twice} twice; "
            f"{self.wall:.2f} s, {self.wall / self.ideal:.2f} × the ideal "
            f"{self.ideal:.2f} s, {self.wall / self.weathered:.2f} × the ideal with the "
            f"faults' own waits {self.weathered:.2f} s; peak {self.peak / MIB:.0f} MiB"
        )


def soak(
    units: int, *, concurrency: int, latency: float, faults: float
) -> tuple[Soaked, Soaked]:
    """Run a quarter of the units, then all, against a server of that share of faults."""
    every = round(1 / faults) if faults else 0
    ready, port = threading.Event(), list[int]()
    threading.Thread(
        target=serve, args=(latency, every, ready, port), daemon=True
    ).start()
    ready.wait()
    url = f"http://127.0.0.1:{port[0]}/v1"
    found = []
    with TemporaryDirectory() as folder:
        for count in (max(units // 4, 1), units):
            suite = make_suite("soak", criteria=1, items=count, judged=True)
            out = Path(folder) / f"run-{count}"
            answers, faulty = Server.count, Server.faults
            wall, peak = judged_run(suite, out, url, concurrency)
            found.append(
                Soaked(
                    units=count,
                    found=results_of(out),
                    wall=wall,
                    ideal=count * latency / concurrency,
                    weathered=(
                        (Server.count - answers) * latency
                        + (Server.faults - faulty) * FIRST_WAIT
                    )
                    / concurrency,
                    peak=peak,
                )
            )
    return found[0], found[1]


def soaking(large: bool) -> Iterator[Row]:
    """The soak as a row of the table."""
    some, all_of_them = soak(20_000, concurrency=64, latency=0.05, faults=0.05)
    lost = some.unaccounted + all_of_them.unaccounted
    grown = (all_of_them.peak - some.peak) / MIB
    yield Row(
        name=f"soak: {all_of_them.units:,} judged units, concurrency 64, 5 % faults",
        measured=f"{all_of_them.wall:.1f} s, {lost} unaccounted, "
        f"{all_of_them.found['error']} errors, {grown:+.0f} MiB from a quarter of them",
        against=f"ideal without any fault: {all_of_them.ideal:.1f} s, with the faults' "
        f"own waits: {all_of_them.weathered:.1f} s",
        ratio=f"{all_of_them.wall / all_of_them.ideal:.2f}, "
        f"{all_of_them.wall / all_of_them.weathered:.2f}",
        aim="all accounted for, memory flat",
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, default=20_000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--latency-ms", type=float, default=50)
    parser.add_argument("--faults", type=float, default=0.05, help="share of answers")
    options = parser.parse_args()
    soaked = soak(
        options.units,
        concurrency=options.concurrency,
        latency=options.latency_ms / 1000,
        faults=options.faults,
    )
    for one in soaked:
        print(one)
        if one.unaccounted:
            print("not every unit is accounted for once")
            return 1
    print(f"{Server.faults} faults in {Server.count} answers")
    if soaked[1].peak - soaked[0].peak > 20 * MIB:
        print("memory grew with the number of units")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

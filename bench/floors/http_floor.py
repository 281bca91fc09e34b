"""The floor of judging on the plain path: raw `http.client`, a connection a thread."""

import argparse
import json
import queue
import threading
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from judged import Results, request_of


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("base_url")
    parser.add_argument("calls", type=int)
    parser.add_argument("results", type=Path)
    parser.add_argument("--concurrency", type=int, default=10)
    options = parser.parse_args()
    parts = urlsplit(options.base_url)
    results = Results(options.results)
    work: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    for number in range(options.calls):
        work.put(number)
    for _ in range(options.concurrency):
        work.put(None)

    def worker() -> None:
        connection = HTTPConnection(parts.hostname or "", parts.port)
        while (number := work.get()) is not None:
            connection.request(
                "POST",
                f"{parts.path}/chat/completions",
                json.dumps(request_of(number)).encode(),
                {"Content-Type": "application/json", "Authorization": "Bearer x"},
            )
            answer = json.loads(connection.getresponse().read())
            results.keep(number, answer["choices"][0]["message"]["content"])
        connection.close()

    threads = [threading.Thread(target=worker) for _ in range(options.concurrency)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main()

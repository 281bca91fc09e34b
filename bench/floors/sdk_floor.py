"""The floor of judging: calls through the bare `openai` client, in threads."""

import argparse
import queue
import threading
from pathlib import Path

from judged import Results, request_of


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("base_url")
    parser.add_argument("calls", type=int)
    parser.add_argument("results", type=Path)
    parser.add_argument("--concurrency", type=int, default=10)
    options = parser.parse_args()
    import openai

    results = Results(options.results)
    client = openai.OpenAI(base_url=options.base_url, api_key="x", max_retries=0)
    work: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    for number in range(options.calls):
        work.put(number)
    for _ in range(options.concurrency):
        work.put(None)

    def worker() -> None:
        while (number := work.get()) is not None:
            answer = client.chat.completions.create(**request_of(number))
            results.keep(number, answer.choices[0].message.content or "")

    threads = [threading.Thread(target=worker) for _ in range(options.concurrency)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main()

"""The floor of judging: calls through the bare `openai` client, in threads."""

import argparse
import json
import queue
import threading


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("base_url")
    parser.add_argument("calls", type=int)
    parser.add_argument("--concurrency", type=int, default=10)
    options = parser.parse_args()
    import openai

    client = openai.OpenAI(base_url=options.base_url, api_key="x", max_retries=0)
    work: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    for number in range(options.calls):
        work.put(number)
    for _ in range(options.concurrency):
        work.put(None)

    def worker() -> None:
        while (number := work.get()) is not None:
            answer = client.chat.completions.create(
                model="judge-1",
                temperature=0,
                messages=[
                    {"role": "system", "content": "You judge one criterion. " * 40},
                    {"role": "user", "content": f"Case {number}. " * 40},
                ],
            )
            json.loads(answer.choices[0].message.content or "")

    threads = [threading.Thread(target=worker) for _ in range(options.concurrency)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main()

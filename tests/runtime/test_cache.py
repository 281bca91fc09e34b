"""The cache of judges' answers: by content, never of another repeat, never in the way."""

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from helix_runtime.judges.cache import CacheEntry, JudgeCache
from helix_runtime.judges.judge import ModelJudge
from helix_runtime.pin import Pin
from helix_runtime.providers import Provider, ProviderOptions, open_provider
from helix_runtime.unit import FROM_CACHE, Judgement, JudgeUsage
from support.judge_server import JudgeServer, judge_server
from support.providers import GOOD
from support.runs import SUBJECT, case, judged, trace
from support.wires import CHAT

ENTRY = CacheEntry(
    text="{}", model="m-1", usage=JudgeUsage(input_tokens=5, output_tokens=2, calls=1)
)


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with judge_server() as running:
        running.answer = lambda asked: CHAT.answer(GOOD)
        yield running


@pytest.fixture
def provider(server: JudgeServer) -> Iterator[Provider]:
    found = open_provider("openai-http", ProviderOptions(base_url=server.base_url))
    yield found
    found.close()


def opened(path: Path, day: int = 100) -> JudgeCache:
    return JudgeCache(path / "cache.sqlite3", day=lambda: day)


def ask(
    provider: Provider, cache: JudgeCache, *, model: str = "m-1", repeat: int = 0
) -> Judgement:
    judge = ModelJudge(
        provider=provider,
        pin=Pin(provider="openai-http", model=model),
        subject=SUBJECT,
        cache=cache,
    )
    found = judge.judge(judged(), case(), trace(), repeat)
    assert found is not None
    return found


def test_a_prompt_is_paid_for_once_over_two_runs(
    server: JudgeServer, provider: Provider, tmp_path: Path
) -> None:
    cache = opened(tmp_path)
    first = ask(provider, cache)
    cache.close()
    again = opened(tmp_path)
    second = ask(provider, again)
    assert len(server.asked) == 1 and again.hits == 1
    assert second.verdict == first.verdict and second.model == first.model
    assert second.usage == first.usage, "what the verdict took, whoever paid for it"
    assert FROM_CACHE in second.notes and FROM_CACHE not in first.notes
    again.close()


def test_a_repeat_is_never_served_from_another_repeat(
    server: JudgeServer, provider: Provider, tmp_path: Path
) -> None:
    cache = opened(tmp_path)
    for _ in range(2):
        for repeat in range(3):
            ask(provider, cache, repeat=repeat)
        cache.close()
    assert len(server.asked) == 3


def test_another_model_is_asked_itself(
    server: JudgeServer, provider: Provider, tmp_path: Path
) -> None:
    cache = opened(tmp_path)
    ask(provider, cache, model="m-1")
    cache.close()
    ask(provider, cache, model="m-2")
    cache.close()
    assert len(server.asked) == 2


def test_an_error_is_not_kept(
    server: JudgeServer, provider: Provider, tmp_path: Path
) -> None:
    cache = opened(tmp_path)
    server.script = [CHAT.answer("no"), CHAT.answer("no")]
    assert ask(provider, cache).verdict.result == "error"
    cache.close()
    assert ask(provider, cache).verdict.result == "pass"
    cache.close()


def test_a_broken_file_costs_its_entries_and_nothing_else(
    server: JudgeServer, provider: Provider, tmp_path: Path
) -> None:
    (tmp_path / "cache.sqlite3").write_bytes(b"this is no database at all" * 200)
    cache = opened(tmp_path)
    assert ask(provider, cache).verdict.result == "pass"
    cache.close()
    assert cache.stats().entries == 0


def test_an_edited_entry_is_no_verdict(
    server: JudgeServer, provider: Provider, tmp_path: Path
) -> None:
    cache = opened(tmp_path)
    ask(provider, cache)
    cache.close()
    with sqlite3.connect(tmp_path / "cache.sqlite3") as database:
        database.execute("UPDATE answers SET text = 'pass, trust me'")
    database.close()
    cache = opened(tmp_path)
    assert ask(provider, cache).verdict.result == "error"
    cache.close()


def test_what_is_old_is_pruned_and_the_rest_is_kept(tmp_path: Path) -> None:
    for day in (10, 20, 30):
        cache = opened(tmp_path, day)
        cache.put(f"key {day}", ENTRY)
        cache.close()
    cache = opened(tmp_path)
    assert cache.prune(before=20) == 1
    stats = cache.stats()
    assert (stats.entries, stats.oldest, stats.newest) == (2, 20, 30)
    assert stats.models == (("m-1", 2),)
    assert cache.get("key 10") is None and cache.get("key 20") == ENTRY
    assert cache.prune() == 2 and cache.stats().entries == 0
    cache.close()


def test_many_threads_and_two_runs_share_one_file(tmp_path: Path) -> None:
    caches = [opened(tmp_path), opened(tmp_path)]

    def work(number: int) -> None:
        cache = caches[number % 2]
        for index in range(60):
            cache.put(f"{number}-{index}", ENTRY)
            cache.get(f"{number}-{index - 1}")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for cache in caches:
        cache.close()
    last = opened(tmp_path)
    assert last.stats().entries == 8 * 60
    last.close()

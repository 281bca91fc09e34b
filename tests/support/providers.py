"""Every provider of the judge, real SDK and all, in front of the loopback server."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from helix_runtime.judges.judge import Limits, ModelJudge
from helix_runtime.judges.parse import ANSWER_SCHEMA
from helix_runtime.pin import Pin
from helix_runtime.providers import (
    JudgeRequest,
    Provider,
    ProviderOptions,
    open_provider,
)
from helix_runtime.unit import Judgement

from .clock import Clock
from .judge_server import JudgeServer
from .runs import SUBJECT, case, judged, trace
from .wires import CHAT, GEMINI, MESSAGES, MODEL, RESPONSES, Wire, verdict_text

KEY = "sk-test-0123456789abcdef"
WIRE_OF: dict[str, Wire] = {
    "openai": CHAT,
    "openai-http": CHAT,
    "openai-responses": RESPONSES,
    "anthropic": MESSAGES,
    "google": GEMINI,
    "google-vertex": GEMINI,
}
VARIABLES = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "GOOGLE_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_APPLICATION_CREDENTIALS",
)


def set_credentials(
    name: str, patch: pytest.MonkeyPatch, server: JudgeServer, folder: Path
) -> None:
    """Set the environment that a user of the provider sets, and nothing else of it."""
    for variable in VARIABLES:
        patch.delenv(variable, raising=False)
    if name.startswith("openai"):
        patch.setenv("OPENAI_API_KEY", KEY)
    elif name == "anthropic":
        patch.setenv("ANTHROPIC_API_KEY", KEY)
    elif name == "google":
        patch.setenv("GEMINI_API_KEY", KEY)
    else:
        account = service_account(folder / "account.json", server.root + "/token")
        patch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
        patch.setenv("GOOGLE_CLOUD_PROJECT", "desk")
        patch.setenv("GOOGLE_CLOUD_LOCATION", "europe-west1")
        patch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(account))


def service_account(path: Path, token_uri: str) -> Path:
    """Write the key file of a service account whose tokens the server gives out."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    account = {
        "type": "service_account",
        "project_id": "desk",
        "private_key_id": "1",
        "private_key": pem.decode(),
        "client_email": "judge@desk.example",
        "client_id": "1",
        "token_uri": token_uri,
    }
    path.write_text(json.dumps(account), "utf-8")
    return path


def base_url(name: str, server: JudgeServer) -> str:
    """The base URL as the provider counts it: OpenAI's holds the version."""
    return server.base_url if name.startswith("openai") else server.root


@contextmanager
def opened(name: str, server: JudgeServer) -> Iterator[Provider]:
    """The provider, in front of the server."""
    options = ProviderOptions(base_url=base_url(name, server))
    provider = open_provider(name.removesuffix("-vertex"), options)
    try:
        yield provider
    finally:
        provider.close()


def request(**changes: object) -> JudgeRequest:
    """A request, with changes."""
    values: dict[str, object] = {
        "system": "be strict",
        "user": "judge this: ü",
        "schema": ANSWER_SCHEMA,
        "model": MODEL,
        "temperature": 0,
        "max_tokens": 500,
        "timeout": 30.0,
    }
    return JudgeRequest(**{**values, **changes})  # type: ignore[arg-type]


REF = {"obs": "output", "path": "", "value": "Order 4711 was sent"}
GOOD = verdict_text(refs=[REF])


class Asking:
    """A judge whose waits are only written down, on a clock of their own."""

    def __init__(
        self, provider: Provider, *, deadline: float = 600.0, timeout: float = 120.0
    ) -> None:
        self.clock = Clock()
        self.waits = self.clock.waits
        self.judge = ModelJudge(
            provider=provider,
            pin=Pin(provider=provider.name, model=MODEL),
            subject=SUBJECT,
            limits=Limits(max_tokens=100, deadline=deadline, timeout=timeout),
            sleep=self.clock.sleep,
            clock=self.clock,
        )

    def __call__(self, repeat: int = 0) -> Judgement:
        judgement = self.judge.judge(judged(), case(), trace(), repeat)
        assert judgement is not None
        return judgement

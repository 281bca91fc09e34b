"""The wire of OpenAI's Responses API: the request's form and the reply's reading."""

from collections.abc import Mapping
from typing import Any, Final

from ..unit import JudgeUsage
from . import FinishReason, JudgeReply, JudgeRequest, ProviderError, ProviderOptions
from .chat import count_in, text_or_none
from .faults import Cleaner

_INCOMPLETE: Final[dict[str, FinishReason]] = {
    "max_output_tokens": "length",
    "max_tokens": "length",
    "content_filter": "content-filter",
}


def response_body(request: JudgeRequest, options: ProviderOptions) -> dict[str, Any]:
    """Return the body of one request; nothing of it is stored at the provider."""
    body: dict[str, Any] = {
        "model": request.model,
        "instructions": request.system,
        "input": request.user,
        "max_output_tokens": request.max_tokens,
        "store": False,
    }
    form = options.answer_format or "json-schema"
    if form == "json-schema":
        body["text"] = {
            "format": {
                "type": "json_schema",
                "name": "judgement",
                "strict": True,
                "schema": request.schema,
            }
        }
    elif form == "json-object":
        body["text"] = {"format": {"type": "json_object"}}
    if request.temperature is not None:
        body["temperature"] = request.temperature
    return body


def read_response(data: Any, *, server: str, clean: Cleaner) -> JudgeReply:
    """Return the reply that a response holds; its thoughts are passed over.

    Raises ProviderError where the data is no response, or one that failed.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("output"), list):
        raise ProviderError(
            "bad-reply", f"{server} sent something else than a response"
        )
    status = data.get("status")
    if status == "failed":
        error = data.get("error")
        said = error.get("message") if isinstance(error, Mapping) else None
        raise ProviderError("server", f"{server}: {clean(str(said or 'it failed'))}")
    texts, refusals = [], []
    for item in data["output"]:
        content = item.get("content") if isinstance(item, Mapping) else None
        if not isinstance(content, list) or item.get("type") != "message":
            continue
        for part in content:
            if isinstance(part, Mapping):
                texts += [t for t in [part.get("text")] if isinstance(t, str)]
                refusals += [r for r in [part.get("refusal")] if isinstance(r, str)]
    finish: FinishReason = "stop" if status == "completed" else "other"
    if status == "incomplete":
        details = data.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, Mapping) else None
        finish = _INCOMPLETE.get(str(reason), "other")
    text = "".join(texts)
    if refusals and not text:
        text, finish = "".join(refusals), "refusal"
    usage = data.get("usage")
    details = usage.get("input_tokens_details") if isinstance(usage, Mapping) else None
    return JudgeReply(
        text=text,
        model=text_or_none(data.get("model")),
        finish_reason=finish,
        usage=JudgeUsage(
            input_tokens=count_in(usage, "input_tokens"),
            output_tokens=count_in(usage, "output_tokens"),
            cached_tokens=count_in(details, "cached_tokens"),
            calls=1,
        ),
    )

"""The order desk on the OpenAI Agents SDK.

`ScriptedModel` stands for the language model, so that the example runs offline; an
agent of your own names a real one. Everything else is as in production.
"""

import json
from collections.abc import AsyncIterator
from typing import Any

from agents import Agent, function_tool
from agents.items import ModelResponse, TResponseStreamEvent
from agents.models.interface import Model
from agents.usage import Usage
from desk import INSTRUCTIONS, number_in, place_of, sentence
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)


class ScriptedModel(Model):
    """Calls the tool for a question, then puts its result into a sentence."""

    async def get_response(
        self, system_instructions: Any, input: Any, *args: Any, **more: Any
    ) -> ModelResponse:
        """Return the next response to the conversation so far."""
        items: list[Any] = input
        asked = [item["content"] for item in items if item.get("role") == "user"]
        order = number_in(asked[-1])
        last = items[-1]
        usage = Usage(requests=1, input_tokens=20, output_tokens=8, total_tokens=28)
        output: Any
        if last.get("type") != "function_call_output":
            output = ResponseFunctionToolCall(
                type="function_call",
                name="find_order",
                arguments=json.dumps({"order": order}),
                call_id=f"call-{len(items)}",
            )
        else:
            place = last["output"] if last["output"].startswith("at ") else None
            text = ResponseOutputText(
                type="output_text", text=sentence(order, place), annotations=[]
            )
            output = ResponseOutputMessage(
                type="message",
                id="message",
                role="assistant",
                status="completed",
                content=[text],
            )
        return ModelResponse(output=[output], usage=usage, response_id=None)

    def stream_response(
        self, *args: Any, **more: Any
    ) -> AsyncIterator[TResponseStreamEvent]:
        """Nobody streams here."""
        raise NotImplementedError


@function_tool
def find_order(order: int) -> str:
    """Return where an order is."""
    return place_of(order)


agent = Agent(
    name="order-desk",
    instructions=INSTRUCTIONS,
    tools=[find_order],
    model=ScriptedModel(),
)

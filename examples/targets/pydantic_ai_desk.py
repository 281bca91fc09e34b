"""The order desk on Pydantic AI.

A `FunctionModel` stands for the language model, so that the example runs offline; an
agent of your own names a real one. Everything else is as in production.
"""

from desk import INSTRUCTIONS, number_in, place_of, sentence
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel


def think(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Call the tool for a question, then put its result into a sentence."""
    asked = [
        str(part.content)
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, UserPromptPart)
    ]
    order = number_in(asked[-1])
    last = messages[-1].parts[-1]
    if isinstance(last, UserPromptPart):
        call_id = f"call-{len(messages)}"
        call = ToolCallPart("find_order", {"order": order}, tool_call_id=call_id)
        return ModelResponse(parts=[call])
    place = None
    if isinstance(last, ToolReturnPart) and last.outcome == "success":
        place = str(last.content)
    return ModelResponse(parts=[TextPart(sentence(order, place))])


agent = Agent(FunctionModel(think), name="order-desk", instructions=INSTRUCTIONS)


@agent.tool_plain(retries=2)
def find_order(order: int) -> str:
    """Return where an order is."""
    try:
        return place_of(order)
    except KeyError:
        raise ModelRetry(f"there is no order {order}") from None

"""The order desk on LangGraph.

The node `think` stands for a chat model that calls tools, so that the example runs
offline; a graph of your own calls a real one there.
"""

from desk import number_in, place_of, sentence
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition


def find_order(order: int) -> str:
    """Return where an order is."""
    return place_of(order)


def think(state: MessagesState) -> dict[str, list[AIMessage]]:
    """Call the tool for a question, then put its result into a sentence."""
    messages = state["messages"]
    asked = [str(message.content) for message in messages if message.type == "human"]
    order = number_in(asked[-1])
    last = messages[-1]
    if not isinstance(last, ToolMessage):
        call_id = f"call-{len(messages)}"
        call = {"name": "find_order", "args": {"order": order}, "id": call_id}
        return {"messages": [AIMessage("", tool_calls=[call])]}
    place = None if last.status == "error" else str(last.content)
    return {"messages": [AIMessage(sentence(order, place))]}


builder = StateGraph(MessagesState)
builder.add_node("think", think)
builder.add_node("look-up", ToolNode([find_order], handle_tool_errors=True))
builder.add_edge(START, "think")
builder.add_conditional_edges("think", tools_condition, {"tools": "look-up", END: END})
builder.add_edge("look-up", "think")
graph = builder.compile()

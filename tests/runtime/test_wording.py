"""What a message may not be: about itself, a form, or the situation told again."""

import pytest
from helix_runtime.growing.wording import MAX_WORDING, faults_of, restates

ANGRY = {"tone": "angry", "channel": "phone", "scenario": "no-copy"}


def said_of(query: str, told: str = "") -> str:
    return "; ".join(faults_of(query, situation=ANGRY, told=told))


@pytest.mark.parametrize(
    "query",
    [
        "Where's my bloody kettle, I've been on hold for an hour!",
        "Here is my order number: R-1001. Where is it?",
        "Ok, here we go again. Where is it?",
        "where is it",
        "This is the question of my life: may I return it?",
        'He said "yes" and then "no"',
        "I have a question: can it come back?",
        "我的订单还没到，已经三天了",
        "हिन्दी में जवाब दीजिए, मेरा ऑर्डर कहाँ है?",
        "👩‍👧 two tickets please\nand a map",
        "No copy? Then the atlas of the moon, please!",
    ],
)
def test_what_a_user_may_write_is_let_through(query: str) -> None:
    assert faults_of(query, situation=ANGRY) == []


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ("", "no word"),
        ("  …!?", "no word"),
        ("Here is a query a user may send: Where is my order?", "about the message"),
        ("Sure! Here's one: where is my order?", "about the message"),
        ("**Here is the query:** where is my order", "about the message"),
        ("Query: where is my order", "a label"),
        ("User: where is my order", "a label"),
        ("Realistic query: where is my order", "a label"),
        ("As an AI language model I have no orders", "as the writer"),
        ("I'm mad! (This query tests the angry tone.)", "as the writer"),
        ("Where is order [insert order number]?", "a blank"),
        ("Where is order {{order_id}}, my friend?", "a blank"),
        ('{"query": "Where is my order?"}', "wrapped in code"),
        ("```\nWhere is my order?\n```", "wrapped in code"),
        ('"Where is my order, then?"', "quotation marks"),
        ("Where is it? <<<END 0123>>> Write another.", "marks"),
        ("Where is it?\x1b[2J And when?", "control characters"),
        ("Where is it?\u202e And when?", "control characters"),
        ("My key is sk-abc1234567890abcdefghij, log in", "a secret"),
        ("An angry user on the phone", "tells the situation again"),
        ("angry, phone, no copy", "tells the situation again"),
        ("word " * MAX_WORDING, "characters long"),
    ],
)
def test_what_is_no_message_is_refused_with_a_reason(query: str, what: str) -> None:
    assert what in said_of(query)


def test_the_description_of_a_situation_is_no_message_in_it() -> None:
    told = "The order came more than 30 days ago."
    assert restates("The order came more than 30 days ago!", ANGRY, told)
    assert not restates("It came 40 days ago, may I still return it?", ANGRY, told)


def test_several_faults_are_told_at_once() -> None:
    assert len(faults_of("Query: [insert name] \x00 says", situation=ANGRY)) >= 3

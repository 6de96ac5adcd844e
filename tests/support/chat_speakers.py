"""What a model behind a chat server says: one look-up with whatever tool it was given, then its answer."""

import json
import re

from support.chat_servers import Turn

OBJECT = '{"lat": 43.19, "lon": 140.99, "city": "Otaru", "country": "Japan"}'
ANSWERS = {
    "reverse": "<think>So.</think><answer>Japan, Otaru, 43.19, 140.99</answer>",
    "spotagent": "<answer>\nCountry: Japan\nCity: Otaru\nLatitude: 43.19\nLongitude: 140.99\n</answer>",
    "geovista": "<think>So.</think><answer>Otaru, Otaru, Hokkaido, Japan</answer>",
    "geoagent": '{"ChainOfThought": {}, "FinalAnswer": "Japan; Hokkaido; Otaru"}',
    "geo_adapt": "<think>So.</think><answer>Country: Japan\nCity: Otaru\nEstimated Coordinates: 43.19, 140.99</answer>",
}
QUERIES = {"query": "Otaru", "keyword": "Otaru", "address": "Otaru"}
CALLABLE = ("search", "geocode")


def answer_of(dialect):
    return next((text for name, text in ANSWERS.items() if dialect.startswith(name)), OBJECT)


def tool_in(body):
    """A tool that searches, and the argument it takes, wherever the request lists its tools."""
    listed = body.get("tools") if body.get("tool_choice") == "auto" else None
    if listed is None:
        text = json.dumps(body["messages"][0]["content"])
        listed = [
            json.loads(json.loads(f'"{line}"'))
            for line in re.findall(r"(\{\\\"type\\\": \\\"function\\\".*?)\\n", text)
        ]
    for tool in listed:
        function = tool["function"]
        argument = next((name for name in function["parameters"].get("properties", {}) if name in QUERIES), None)
        if argument and any(word in function["name"] for word in CALLABLE):
            return function["name"], argument
    return None


def speaking(dialect):
    """One look-up when a tool is there and nothing was looked up yet, then the answer."""

    def speak(body):
        text = json.dumps(body["messages"])
        looked_up = any(message["role"] == "tool" for message in body["messages"]) or "<tool_response>" in text
        tool = None if looked_up else tool_in(body)
        if tool is None:
            return Turn(text=answer_of(dialect), reasoning="It must be there.")
        name, argument = tool
        if body.get("tools"):
            return Turn(tool=name, arguments={argument: "Otaru"}, reasoning="I should look it up.")
        call = json.dumps({"name": name, "arguments": {argument: "Otaru"}})
        return Turn(text=f"<think>Look.</think>\n<tool_call>\n{call}\n</tool_call>")

    return speak

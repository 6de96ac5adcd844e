"""The same service through OpenAI's client: the content is the answer as JSON. Needs `pip install openai`.

python examples/openai_client.py photo.jpg http://127.0.0.1:8000
"""

import base64
import json
import os
import sys
from pathlib import Path

from openai import OpenAI, OpenAIError
from openai.types.chat import ChatCompletionContentPartParam


def main(path: str, url: str = "http://127.0.0.1:8000") -> None:
    """Print the reasoning as it comes, then the place that the answer names."""
    client = OpenAI(base_url=f"{url}/v1", api_key=os.environ.get("GEOTTS_API_KEY", "none"))
    picture = "data:image/jpeg;base64," + base64.b64encode(Path(path).read_bytes()).decode()
    parts: list[ChatCompletionContentPartParam] = [
        {"type": "text", "text": "taken on a holiday"},
        {"type": "image_url", "image_url": {"url": picture}},
    ]
    stream = client.chat.completions.create(
        model="geotts",
        messages=[{"role": "user", "content": parts}],
        stream=True,
        extra_body={"geotts": {"n_parallel": 4}},
    )
    content = ""
    for chunk in stream:
        delta = chunk.choices[0].delta
        print(getattr(delta, "reasoning_content", None) or "", end="", flush=True)
        content += delta.content or ""
    answer = json.loads(content)
    named = ", ".join(name for name in (answer["place"], answer["city"], answer["region"], answer["country"]) if name)
    if answer["abstained"]:
        print(f"\n\nNot known: nothing supports a point{f'; all that is supported is {named}' if named else ''}.")
        return
    radius_km = answer["radius_km"]["p90"]
    print(f"\n\n{named}: {answer['lat']:.5f}, {answer['lon']:.5f}, nine in ten within {radius_km:.0f} km")


if len(sys.argv) not in (2, 3):
    print("usage: python examples/openai_client.py photo.jpg [URL]", file=sys.stderr)
    sys.exit(2)
try:
    main(*sys.argv[1:])
except (OpenAIError, OSError) as error:  # no service, a refusal, no such file
    sys.exit(str(error))

"""`read_text` says what a line may say instead, to models in its text and to the embedded engine in its facts."""

from support.basics import a_context

from tools.read_text import read_text_tool
from tts.domain.photo import Box
from tts.domain.reading import Reading, TextLine
from tts.domain.tooling import TextFact
from tts.ports.toolbox import ToolContext

HERE = Box(x0=0.1, y0=0.1, x1=0.5, y1=0.2)


class _Reader:
    """Finds these lines in every box."""

    def __init__(self, *lines):
        self.lines = lines

    async def read(self, photo, box, context, language=""):
        return Reading(photo_sha256=photo.sha256, lines=self.lines)


async def test_alternatives_of_a_line_are_given(sign_photo):
    doubtful = TextLine(text="කූලියාපිටිය", box=HERE, confidence=0.9, alternatives=("කුලියාපිටිය",))
    sure = TextLine(text="Inselpark", box=HERE, confidence=0.99)
    tool = read_text_tool(_Reader(doubtful, sure))
    context = ToolContext(request=a_context(), photos=(sign_photo,))
    found = await tool.run(tool.arguments(bbox=[0.0, 0.0, 0.5, 0.5]), context)
    assert found.text.splitlines() == [
        "කූලියාපිටිය  (confidence 0.90, or: කුලියාපිටිය)",
        "Inselpark  (confidence 0.99)",
    ]
    assert [fact.alternatives for fact in found.facts if isinstance(fact, TextFact)] == [("කුලියාපිටිය",), ()]

"""A tool of the MCP server is called on its own: there is no request that lists what it sent."""

from typing import cast

from deployments.gateway.answer_pictures import AnswerPictures
from deployments.gateway.gateway import Gateway
from deployments.mcp.photo_arguments import NamedPhoto
from deployments.mcp.tool_execution import McpTools
from tts.domain.outgoing_request import Outgoing
from tts.egress.records import EGRESS
from tts.ports.toolbox import Toolbox
from tts.toolkit.spec import Observation
from tts.toolkit.toolbox import success_outcome


class Sends:
    """A toolbox whose tool sends something."""

    def __init__(self):
        self.requests = []

    async def call(self, call, context):
        self.requests.append(context.request.id)
        sent = Outgoing.now(
            host="maps.test", method="GET", url="https://maps.test", bytes_sent=0, request_id=context.request.id
        )
        EGRESS.record(sent)
        return success_outcome(call, Observation("found"), elapsed_s=0.0, retrieved_at="")


async def test_egress_records_of_a_tool_called_without_a_request_are_not_kept():
    toolbox = Sends()
    tools = McpTools(cast(Gateway, None), cast(AnswerPictures, None), NamedPhoto, cast(Toolbox, toolbox))
    await tools.call_tool("geocode", {"address": "Bellinzona"})
    (request_id,) = toolbox.requests
    assert not EGRESS.has_records(request_id)

"""See `geotts_client.client`."""

from geotts_client.client import CANCEL_S, Client
from geotts_client.errors import ServerUnreachable
from geotts_client.form_fields import form_fields
from geotts_client.reply_errors import error_of, refusal

__all__ = ["CANCEL_S", "Client", "ServerUnreachable", "error_of", "form_fields", "refusal"]

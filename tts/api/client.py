"""See `geotts_client.client`."""

from geotts_client.client import CANCEL_S, Client, error_of, form_fields, refusal
from geotts_client.errors import ServerUnreachable

__all__ = ["CANCEL_S", "Client", "ServerUnreachable", "error_of", "form_fields", "refusal"]

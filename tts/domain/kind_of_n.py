"""See `geotts_client.kind_of_n`: the client and the service share these values."""

from geotts_client.kind_of_n import FittedKind, KindOfN, fitted_kind, kind_of_n, of_models

__all__ = ["FittedKind", "KindOfN", "fitted_kind", "kind_of_n", "of_models"]

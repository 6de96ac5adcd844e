"""See `geotts_client.calibration`: the client and the service share this value."""

from geotts_client.calibration import CalibrationState as CalibrationState

"""Rewards of recorded outputs, as the authors of each system give them: `geotts eval rewards`."""

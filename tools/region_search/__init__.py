"""Search by a region of a photo at live services: how it is cut, blurred and sent, and where services fetch it."""

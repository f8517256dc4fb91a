"""Start, stop and fill servers; what differs between products is in `families`."""

"""Check whether this machine can run a study, and how well it would measure."""

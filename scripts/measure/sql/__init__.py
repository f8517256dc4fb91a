"""Send statements of our own: the check of answers, timed SQL."""

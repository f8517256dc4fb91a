"""Show a running study without disturbing it."""

"""Two finished studies side by side, and what changed between them."""

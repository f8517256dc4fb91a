"""List results that no config names, and remove them."""

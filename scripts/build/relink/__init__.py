"""Relink a server: the same objects in other orders, to show what the luck of code layout does."""

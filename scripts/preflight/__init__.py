"""Checks of a machine before a study, one module a topic; each yields findings and changes nothing."""

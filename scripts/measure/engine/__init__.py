"""Measure a block: start its servers, let one after the other work, count, warn, and write a record of each run."""

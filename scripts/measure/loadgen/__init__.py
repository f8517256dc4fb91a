"""Run sysbench, here or on another host, hold its clients at a gate, and parse its output."""

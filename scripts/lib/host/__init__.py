"""Processes, locks, CPUs and storage of this machine."""

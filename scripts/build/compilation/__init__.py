"""Compile and instrument, read profiles, audit their use, prove what differs between builds."""

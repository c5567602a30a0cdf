"""A sandbox on this machine."""

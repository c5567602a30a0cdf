"""Frozen values that every package speaks of, as JSON and back; the errors that users see."""

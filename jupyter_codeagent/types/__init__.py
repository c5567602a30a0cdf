"""Frozen values that all packages share, their JSON form, and the errors that users see."""

"""The session: one per kernel, from a prompt to cells."""

"""Monitoring of a sandbox from outside: its processes, memory, files and limits."""

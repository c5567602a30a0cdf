"""The walls between code and machine: the isolation of each level, and the processes behind it."""

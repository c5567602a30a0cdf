"""Build the prompt: the system message, the variables, the task, earlier turns, feedback."""

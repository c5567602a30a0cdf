"""The text that goes to the model and comes from it: prompts, replies, feedback, and the loop around them.

Pure functions: nothing here does I/O, imports a dataframe library or knows a kernel.
"""

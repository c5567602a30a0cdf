"""Everything the model reads and writes, as text: what is sent, what is found in the reply, what is told of a run.

Pure functions: nothing here does I/O, imports a dataframe library or knows a kernel.
"""

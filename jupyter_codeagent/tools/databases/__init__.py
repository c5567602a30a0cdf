"""How one statement runs in each kind of database so that it only reads; `tools/sql.py` makes a function of it."""

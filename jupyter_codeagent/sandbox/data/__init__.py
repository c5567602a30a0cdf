"""Data over the border: copies into the sandbox (`spool`), validated data out of it (`unpack`)."""

"""Rules that correct a program before it runs, mend it after an error, and doubt its result."""

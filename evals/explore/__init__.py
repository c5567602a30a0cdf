"""Tables with planted findings and tables of pure noise, and a judge of what was found in them. See README.md."""

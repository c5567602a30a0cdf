"""What whole tables show, without a model: a report of the sandbox becomes findings, words and programs."""

"""Sets of questions, each with what counts as right."""

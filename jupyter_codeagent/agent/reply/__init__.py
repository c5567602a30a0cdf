"""Read the model's replies: code out of text."""

"""What the model has replied: code out of text."""

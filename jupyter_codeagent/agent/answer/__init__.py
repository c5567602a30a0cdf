"""The sentence that answers a question with a result."""

"""The agent as a persona of Jupyter AI: a message of a chat becomes a question in the notebook in view."""

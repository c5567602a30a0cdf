"""Who is asked: this project as a user has it, and peers on the same model server."""

"""Functions of the live kernel that code in the sandbox may call: declared by the user, approved call by call."""

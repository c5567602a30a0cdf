"""The output of a sandbox, from bytes on a socket to messages. All of it may be forged."""

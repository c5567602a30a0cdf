"""What comes out of a sandbox, from bytes on a socket to messages. Everything in it may be forged."""

"""What of the user's values may leave: hidden columns, masking, personal data, secrets."""

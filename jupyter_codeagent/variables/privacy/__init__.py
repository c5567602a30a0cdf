"""Keep private values out of prompts and copies: hidden columns, masking, personal data, secrets."""

"""How far a result can be believed: what was counted, what was assumed, and a verdict with its reason."""

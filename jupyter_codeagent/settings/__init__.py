"""Settings: traitlets, user preferences and administrator caps outside, frozen settings inside."""

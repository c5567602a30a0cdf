"""Settings: traitlets, the user's choices and the administrator's caps at the edge, frozen settings inside."""

"""Look at whole tables without a question and without a model: `explore` finds what a person should know first."""

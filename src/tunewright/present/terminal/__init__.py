"""Pages for a terminal: one file per kind of answer."""

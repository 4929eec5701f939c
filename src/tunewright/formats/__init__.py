"""Files of other tools, read without the tools: shared by importers, sinks and running trials."""

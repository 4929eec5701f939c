"""Words: facts in, text for readers out. Imports nothing else of this package."""

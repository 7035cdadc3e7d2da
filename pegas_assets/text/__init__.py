"""The search copy of a text, its words and their stems."""

"""Pegas Memory: how an agent reads the knowledge and asks for more."""

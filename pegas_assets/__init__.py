"""Pegas Memory: how knowledge is made. The domain, and its Dagster code location."""

"""The embedded engines: each found again or started on demand, surviving its starter, stopped by `pegas down`."""

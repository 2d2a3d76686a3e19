"""Mail of a seat: the only way in, the claim of a batch, how letters merge, how they end."""

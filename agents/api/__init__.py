"""The runtime over REST: agents, turns, events, budgets, the stream's first frame."""

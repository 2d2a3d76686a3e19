"""From mail to a turn: what may run now, who runs it, where the engine waits."""

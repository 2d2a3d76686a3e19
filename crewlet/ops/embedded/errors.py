"""What can go wrong before the servers run."""

from __future__ import annotations


class ServerProblem(Exception):
    """An embedded server cannot run; the message names the thing and the remedy."""

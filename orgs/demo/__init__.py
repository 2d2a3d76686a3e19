"""The company that `up` creates when there is none, and its first goal."""

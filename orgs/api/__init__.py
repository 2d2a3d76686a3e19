"""The REST door of the company and its people."""

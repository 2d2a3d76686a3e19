"""The company document: reading, checking and writing it. Pure: no Django, no clock, no network."""

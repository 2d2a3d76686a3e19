"""The tracker's routes below /api/v1/."""

"""Settings and setting up, through the doors that people use."""

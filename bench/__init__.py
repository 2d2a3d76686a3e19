"""What the engine costs, measured against a floor of the same run. `python -m bench --help`."""

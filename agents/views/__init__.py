"""The pages of the runtime: the chart, a seat, what runs, a turn."""

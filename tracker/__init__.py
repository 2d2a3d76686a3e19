"""The work tracker: projects, items, comments, asks and what each change tells whom."""

"""The verbs of the tracker. Importing a module registers its actions."""

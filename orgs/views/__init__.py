"""The pages of the organization: the Inbox and who can be mentioned."""

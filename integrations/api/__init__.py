"""What stands outside, over REST."""

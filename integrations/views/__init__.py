"""The pages about what stands outside."""

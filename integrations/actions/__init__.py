"""The verbs over what stands outside."""

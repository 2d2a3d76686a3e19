"""Model wires: one request and one answer, whatever the vendor. Only it imports an SDK."""

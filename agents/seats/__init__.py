"""A worker's grip on seats: presence, leases, placement, holds, the host that keeps them."""

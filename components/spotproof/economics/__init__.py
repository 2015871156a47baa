"""What a policy costs: closed forms, recorded markets, simulation."""

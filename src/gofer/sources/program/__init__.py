"""Programs that run workflows in their own process: no deliveries, and the answer is what the call returns."""

"""Python that a model wrote, run by an interpreter without a host in a limited child."""

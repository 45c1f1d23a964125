"""Python that a model wrote, run where it can hurt nothing: an interpreter without a host, in a limited child."""

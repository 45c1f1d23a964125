"""What Gofer uses of lxml, which has no types of its own."""

"""What recorded runs teach about the workflows of a repository."""

"""What a run can do in Notion: read pages and databases, comment, set properties, add content."""

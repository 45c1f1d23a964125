"""The source Notion: receives deliveries, reads pages and databases, comments, sets properties, adds content."""

"""Tools that find other tools and skills."""

"""Tools that load skills."""

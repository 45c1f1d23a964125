"""Triggers: verify raw bytes and translate them to an Event, one leaf per source. They read and write nothing."""

"""Publishing: workflows become live without a deploy, with their schedules, and can be rolled back by name."""

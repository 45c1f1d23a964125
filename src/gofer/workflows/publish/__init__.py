"""Publishing: makes workflows and their schedules live without a deploy, and rolls them back by name."""

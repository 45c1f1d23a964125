"""Publishing: puts workflows into force without a deploy, with their schedules, and rolls them back by name."""

"""What will be tried: ranges, roles, rounds, objectives, schedules."""

"""Worker processes: pipes, output, memory limits, process trees."""

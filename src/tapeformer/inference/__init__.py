"""Running a model: prompt, run, grow, decode, stream, compare, batch."""

"""The values of the register that tells whether, and how, a queue machine has stopped."""

RUNNING = "run"
VERDICTS = (RUNNING, "accept", "reject", "halt", "out_of_space")

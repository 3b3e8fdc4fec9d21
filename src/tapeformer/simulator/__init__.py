"""The direct simulator: the oracle. It shares only the records of machines and tapes with the compiler."""

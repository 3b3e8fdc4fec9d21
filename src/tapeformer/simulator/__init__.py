"""The direct simulator: the oracle. It reads machines and shares no code with the compiler."""

"""From weights to machine code: forms, facts, gates, lanes, LLVM, and a cache of what was made."""

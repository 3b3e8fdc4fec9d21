"""Pictures for people: tables of rules, tapes with their heads, state diagrams."""

"""Synchronous multi-queue machines: the bridge between tapes and attention."""

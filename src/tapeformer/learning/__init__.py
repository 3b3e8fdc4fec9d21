"""Models trained on chains of thought: can geometric look-backs be learned, and how far do they carry?"""

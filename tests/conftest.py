"""Property tests draw the same examples in every run, so that a failure is the same everywhere."""

from hypothesis import settings

settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")

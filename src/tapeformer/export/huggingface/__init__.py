"""The files that travel with a model to Hugging Face: they need torch and transformers only."""

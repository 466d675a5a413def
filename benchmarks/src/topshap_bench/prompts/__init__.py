"""Prompts: a small language model behind an OpenAI-compatible server, and planted documents to find in its prompts."""

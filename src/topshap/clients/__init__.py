"""Clients of language models: two methods, `complete` and `score`."""

from topshap.clients.base import AsyncClient, Client, Completion, TokenLogProbs
from topshap.clients.http import HTTPClient
from topshap.clients.litellm import LiteLLMClient
from topshap.clients.mock import MockClient
from topshap.clients.openai import OpenAIClient
from topshap.clients.transformers import TransformersClient
from topshap.clients.wire import plain_template

__all__ = [
    "AsyncClient",
    "Client",
    "Completion",
    "HTTPClient",
    "LiteLLMClient",
    "MockClient",
    "OpenAIClient",
    "TokenLogProbs",
    "TransformersClient",
    "plain_template",
]

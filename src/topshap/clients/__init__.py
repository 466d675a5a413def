"""Clients of language models: two methods, `complete` and `score`."""

from topshap.clients.base import AsyncClient, Client, Completion, TokenLogProbs
from topshap.clients.http import HTTPClient
from topshap.clients.mock import MockClient
from topshap.clients.openai import OpenAIClient
from topshap.clients.wire import plain_template

__all__ = [
    "AsyncClient",
    "Client",
    "Completion",
    "HTTPClient",
    "MockClient",
    "OpenAIClient",
    "TokenLogProbs",
    "plain_template",
]

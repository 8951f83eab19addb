"""What the type checkers make of clients and transports of httpx2. It is checked, and never run."""

import httpx2

from adclient import AdClient, AsyncAdClient

AdClient(http_client=httpx2.Client())
AdClient(transport=httpx2.HTTPTransport())
AdClient(transport=httpx2.MockTransport(lambda request: httpx2.Response(200)))
AsyncAdClient(http_client=httpx2.AsyncClient())
AsyncAdClient(transport=httpx2.AsyncHTTPTransport())

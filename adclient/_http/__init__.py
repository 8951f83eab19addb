"""The one package that knows the HTTP library: requests go out, bytes come back.

It decides nothing. It sends one request when told to, within the time given, and says what came
of it: a `Reply`, or a `Failure` with whether the service may have seen the request. The modules
for the sync client load neither asyncio nor anyio.
"""

"""The senders, which alone import an HTTP library, with the two modules `connections.py`.

A sender makes no decisions. It sends one request within the given time, and returns a
`RawResponse`, or a `Failure` that states whether the service may have received the request.
"""

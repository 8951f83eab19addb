"""The senders: the only package that imports an HTTP library.

A sender makes no decisions. It sends one request within the given time, and returns a
`RawResponse`, or a `Failure` that states whether the service may have received the request.
"""

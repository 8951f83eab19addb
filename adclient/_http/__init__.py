"""The one package that knows an HTTP library: requests go out, bytes come back.

It decides nothing. It sends one request within the time given, and reports a `RawResponse`, or a
`Failure` that says whether the service may have seen the request.
"""

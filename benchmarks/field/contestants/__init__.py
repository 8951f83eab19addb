"""One module for each peer: how a user of it does the work of the rows.

Each has the same two classes. `Client(url, response, **settings)` has a client of the library for
the service at `url`, or in process if there is a `response` to every request; the settings, such as
`timeout=60`, are the library's own. Its methods:

- `page()` reads one page, `ids(page)` goes through all its items
- `post()` stages something and returns its id
- `error()` makes a call that is refused and returns the status and the message
- `listing()` goes through the ids of all items, page after page
- `decode(body)` makes a page of bytes
- `close()`

`AsyncClient` has `open()`, `page()`, `ids(page)` and `close()`; all but `ids` are coroutines.
"""

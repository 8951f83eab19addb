"""githubkit: the labels of a repository, which are its smallest items, are listed and created.

Its HTTP cache is switched off: with it, a repeated call is other work.
"""

from githubkit import GitHub
from githubkit.exception import RequestFailed


def ids(response):
    return [label.id for label in response.parsed_data]


class Client:
    ids = staticmethod(ids)

    def __init__(self, url, response=None, **settings):
        if response is not None:
            import httpx

            settings["transport"] = httpx.MockTransport(
                lambda _: httpx.Response(
                    response.status, headers=response.headers, content=response.body
                )
            )
        self._github = GitHub("token", base_url=url, http_cache=False, **settings)
        self._github.__enter__()  # else each call makes a client

    def page(self):
        return self._github.rest.issues.list_labels_for_repo("halden", "ads", per_page=10)

    def post(self):
        return self._github.rest.issues.create_label(
            "halden", "ads", name="bug", color="f29513", description="120"
        ).parsed_data.id

    def error(self):
        try:
            self.page()
        except RequestFailed as error:
            return error.response.status_code, error.response.json()["message"]

    def listing(self):
        rest = self._github.rest
        labels = rest.paginate(
            rest.issues.list_labels_for_repo, owner="halden", repo="ads", per_page=500
        )
        return (label.id for label in labels)

    def decode(self, body):
        from githubkit.compat import type_validate_json
        from githubkit_schemas.latest.models import Label

        return Page(type_validate_json(list[Label], body))

    def close(self):
        self._github.__exit__()


class Page:
    def __init__(self, labels):
        self.parsed_data = labels


class AsyncClient:
    ids = staticmethod(ids)

    def __init__(self, url, **settings):
        self._github = GitHub("token", base_url=url, http_cache=False, **settings)

    async def open(self):
        await self._github.__aenter__()

    async def page(self):
        return await self._github.rest.issues.async_list_labels_for_repo(
            "halden", "ads", per_page=10
        )

    async def close(self):
        await self._github.__aexit__()

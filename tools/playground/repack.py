"""Makes the page start faster; the Python of the page itself runs this when the page is built.

Half of the start would go into compiling the standard library. So the modules that a first draft
needs are compiled here; without docstrings, they are hardly larger than their source. The packages
become one stream, which compresses better than file by file.
"""

import py_compile
import sys
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import session
from compression import zstd

LOADED_FROM = "/lib/python314.zip/"
UNCHECKED = py_compile.PycInvalidationMode.UNCHECKED_HASH
EXAMPLE = """
from adclient.testing import FakeAdService
service = FakeAdService()
client = service.client()
client.beta.list_campaigns(account_id="account_b204")
client.beta.pause_campaign(account_id="account_b204", campaign_id="campaign_57a7")
"""


async def repack(library: str, packages: str) -> None:
    """Compile what a first draft and the approval page use, and compress the packages."""
    await session.run(EXAMPLE)
    await session.respond("", "http://localhost", "GET", "http://localhost/approval", "")
    used = {str(getattr(module, "__file__", None)) for module in list(sys.modules.values())}
    content = BytesIO(Path(library).read_bytes())
    with (
        ZipFile(content) as old,
        ZipFile(library, "w", ZIP_DEFLATED, compresslevel=9) as new,
        TemporaryDirectory() as folder,
    ):
        for name in old.namelist():
            path = LOADED_FROM + name
            if used & {path, f"{path}c"}:
                source, compiled = old.extract(name, folder), f"{folder}/compiled"
                py_compile.compile(
                    source, compiled, path, doraise=True, optimize=2, invalidation_mode=UNCHECKED
                )
                new.write(compiled, f"{name}c")
            else:
                new.writestr(name, old.read(name))
    stored = BytesIO()
    with ZipFile(packages) as old, ZipFile(stored, "w", ZIP_STORED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    Path(f"{packages}.zst").write_bytes(zstd.compress(stored.getvalue(), level=19))
    Path(packages).unlink()

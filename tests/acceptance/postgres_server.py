"""A PostgreSQL server of Debian's package, and databases on it."""

import itertools
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

PASSWORD = "hunter2-s3cret"
NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The URL of a running server, without a database."""
    debian = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parts[4])
    )
    programs = shutil.which("initdb") or str(debian[-1] / "initdb")
    folder = Path(tempfile.mkdtemp())
    as_whom = {}
    if os.geteuid() == 0:  # which PostgreSQL refuses
        shutil.chown(folder, "postgres", "postgres")
        as_whom = {"user": "postgres", "group": "postgres", "extra_groups": []}

    def run(name: str, *arguments: str) -> None:
        command = [Path(programs).with_name(name), "-D", folder / "data", *arguments]
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL, **as_whom)

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (folder / "password").write_text(PASSWORD)
    (folder / "password").chmod(0o644)
    run("initdb", "-U", "ads", "-E", "UTF8", "-A", "scram-sha-256", f"--pwfile={folder}/password")
    settings = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder}"
    run("pg_ctl", "start", "-w", "-l", str(folder / "log"), "-o", f"{settings} -c fsync=off")
    try:
        yield f"postgresql://ads:{PASSWORD}@127.0.0.1:{port}"
    finally:
        run("pg_ctl", "stop", "-m", "immediate")
        shutil.rmtree(folder)


@pytest.fixture
def where(server) -> str:
    """The URL of a new database."""
    name = f"test_{next(NUMBERS)}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"{server}/{name}"

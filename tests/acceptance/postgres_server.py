"""A PostgreSQL server of Debian's package, and databases on it."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import psycopg
import pytest
from raw_server import Connection, RawServer

PASSWORD = "hunter2-s3cret"
DISCONNECT = """
SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
WHERE pid <> pg_backend_pid() AND datname = current_database()
"""
# A database of its own for each test would be 300 files.
EMPTY = (
    *(DISCONNECT, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public"),
    *("GRANT USAGE ON SCHEMA public TO PUBLIC", "ALTER DATABASE ads RESET ALL"),
)


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
    url = f"postgresql://ads:{PASSWORD}@127.0.0.1:{port}"
    try:
        with psycopg.connect(f"{url}/postgres", autocommit=True) as connection:
            connection.execute("CREATE DATABASE ads")
        yield url
    finally:
        run("pg_ctl", "stop", "-m", "immediate")
        shutil.rmtree(folder)


@contextmanager
def silenced(where: str, word: bytes, times: int) -> Iterator[str]:
    """The URL of a proxy that lets no response through once a word was sent that often."""
    port, left = int(where.rpartition(":")[2].partition("/")[0]), [times]

    def forward(client: Connection) -> None:
        def respond() -> None:
            while (data := server.recv(65536)) and left[0] > 0:
                client.send(data)

        with socket.create_connection(("127.0.0.1", port)) as server:
            answering = Thread(target=respond)
            answering.start()
            while data := client.receive():
                left[0] -= word in data
                server.sendall(data)
            server.shutdown(socket.SHUT_RDWR)
            answering.join()

    with RawServer(forward) as proxy:
        yield where.replace(f":{port}", f":{proxy.url.rpartition(':')[2]}")


@pytest.fixture
def where(server) -> str:
    """The URL of an empty database, to which nobody is connected."""
    with psycopg.connect(f"{server}/ads", autocommit=True) as connection:
        for statement in EMPTY:
            connection.execute(statement)
    return f"{server}/ads"


@pytest.fixture
def execute(where: str):
    """Execute SQL, as anybody with access can."""

    def execute(*statements: str) -> list[tuple]:
        with psycopg.connect(where) as connection:
            cursors = [connection.execute(sql) for sql in statements]
            return cursors[-1].fetchall() if cursors[-1].description else []

    return execute

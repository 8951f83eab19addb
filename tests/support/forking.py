"""Run a script that forks in a process of its own, which has only the threads that it starts."""

import subprocess
import sys

PRELUDE = """
import asyncio, os, selectors, signal, sys, threading, traceback
import httpx
from adclient import AdClient, AsyncAdClient
url = sys.argv[1]

def read(client, who):
    return client.delta.analyze_wasted_spend(account_id=who)

def in_a_child(work):
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # what hangs fails
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

def answered(request, next=None):
    return httpx.Response(200, json={"data": [], "page": {"next": next}})
"""


def run(script: str, *arguments: str) -> str:
    command = [sys.executable, "-c", PRELUDE + script, *(arguments or [""])]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, encoding="utf-8", timeout=40)
    return done.stdout

"""Processes that the local server forks off."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is forked")
BEGINNING = """
import os, signal, sys, time
from functions.local.failure import CannotServe
from functions.local.processes import Processes, ends_told
def interrupt(*_): raise KeyboardInterrupt
signal.signal(signal.SIGTERM, interrupt)
processes = Processes()
def watch():
    with ends_told() as told:
        while processes.keep_up():
            told.recv(100)
"""


def run(program: str) -> subprocess.CompletedProcess[str]:
    """Runs it by itself: this process may have threads."""
    return subprocess.run(
        [sys.executable, "-c", BEGINNING + program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_what_fails_by_itself_ends_all_and_says_why() -> None:
    done = run("""
def fail(): raise ValueError("no luck")
processes.start(fail)
try:
    watch()
except CannotServe as error:
    print(error)
finally:
    processes.end()
""")
    assert done.returncode == 0, done.stderr
    assert "what is above says why" in done.stdout
    assert "ValueError: no luck" in done.stderr


def test_what_is_killed_begins_anew() -> None:
    done = run("""
told, tell = os.pipe()
def work():
    os.write(tell, b"%d\\n" % os.getpid())
    signal.pause()
processes.start(work)
os.kill(int(os.read(told, 100)), signal.SIGKILL)
other = os.fork()
if not other:
    os.read(told, 100)
    os._exit(0)
watch()
processes.end()
print("ended")
""")
    assert (done.stdout, done.stderr) == ("ended\n", "")


def test_all_end_in_good_order_and_leave_no_remains() -> None:
    done = run("""
told, tell = os.pipe()
def work():
    try:
        os.write(tell, b"!")
        signal.pause()
    finally:
        os.write(1, b"cleared away\\n")
for _ in range(3):
    processes.start(work)
    os.read(told, 1)
processes.end()
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("none left")
""")
    assert done.stderr == ""
    assert done.stdout.splitlines() == [*["cleared away"] * 3, "none left"]

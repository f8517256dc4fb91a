"""What a process hands on is read by its children, and by nobody after its end."""

import os
import subprocess
import sys

import pytest

from scripts.lib.host import handed


def test_child_reads_what_no_environment_holds():
    path = handed.hand("secret", "t0ken")
    code = f"from scripts.lib.host import handed; print(handed.take({path!r}))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout == "t0ken\n"
    assert not [value for value in os.environ.values() if "t0ken" in value]


def test_it_ends_with_the_process():
    code = "from scripts.lib.host import handed; print(handed.hand('secret', '1'))"
    path = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    with pytest.raises(OSError, match="No such file"):
        handed.take(path)

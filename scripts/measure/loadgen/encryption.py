"""Whether sysbench's connections to a server that already runs are encrypted, and its certificate is checked."""

import re
import subprocess
from dataclasses import replace
from pathlib import Path

from scripts.lib.host import workplace
from scripts.lib.host.made_environment import made_environment
from scripts.measure.loadgen import sysbench
from scripts.measure.servers.running_server import RunningServer

QUERY = Path(__file__).with_name("cipher.lua")
# The certificate of an authority whose key nobody has: no server can have a certificate of it.
OTHER_CA = Path(__file__).with_name("other_ca.pem")
FOUND = re.compile(r"^CIPHER (\S+) (\S+)$", re.MULTILINE)
ANSWER_S = 60


def cipher(server: RunningServer, generator: sysbench.Capabilities) -> str | None:
    """Return the cipher of sysbench's connections, None where the study asks for no TLS.

    Raises ValueError when they are not encrypted although they should be, and when sysbench's driver takes the
    certificate without checking it: then it accepts an authority that did not sign it, too.
    """
    answer = _ask(server, generator)
    if server.endpoint.access.ca is None:
        return None
    if not (match := FOUND.search(answer)):
        last_lines = server.endpoint.hidden(answer).strip().splitlines()[-3:]
        raise ValueError(f"{server.endpoint.server}: sysbench has no encrypted connection: {' '.join(last_lines)}")
    with workplace.temporary_directory() as folder:
        access = replace(server.endpoint.access, ca=OTHER_CA)
        other = replace(server, endpoint=replace(server.endpoint, access=access), folder=folder)
        if FOUND.search(_ask(other, generator)):
            raise ValueError(
                f"{server.endpoint.server}: sysbench's driver does not check the server's certificate; take a sysbench "
                "with another client library, or say `tls: false` to measure without TLS"
            )
    return match[2]


def _ask(server: RunningServer, generator: sysbench.Capabilities) -> str:
    environment = made_environment(**server.environment, CIPHER_QUERY=server.family.CIPHER_QUERY)
    command = [generator.path, str(QUERY), *server.sysbench_flags, "cipher"]
    done = subprocess.run(command, capture_output=True, env=environment, timeout=ANSWER_S, check=False, text=True)
    return done.stdout + done.stderr

"""The environment of the commands that the workflow starts: a short list, whatever the user's shell exports."""

import os

# Of the user's environment: where commands are, where they keep settings, where temporary files go.
OF_THE_USER = ("PATH", "HOME", "TMPDIR")
# Words of programs are parsed, and sorting must not depend on the user's language.
LOCALE = {"LC_ALL": "C"}
# Java takes the encoding of file names from the locale.
UTF8_LOCALE = {"LC_ALL": "C.UTF-8"}
# What a download may need to get out of this network, to trust a server, and to log in to it.
PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy")
OF_DOWNLOADS = (
    *PROXIES,
    *map(str.upper, PROXIES),
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "XDG_CONFIG_HOME",
    # git
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_ASKPASS",
    "SSH_ASKPASS",
    "SSH_AUTH_SOCK",
    # apt
    "APT_CONFIG",
    # Maven
    "JAVA_HOME",
    "JAVA_TOOL_OPTIONS",
    "MAVEN_ARGS",
    "MAVEN_OPTS",
)


def made_environment(**more: str) -> dict[str, str]:
    """Return the environment of a command: PATH, HOME and TMPDIR of this process, the C locale, and `more` over them.

    A variable of the three that this process does not have is left out.
    """
    return {**_present(OF_THE_USER), **LOCALE, **more}


def download_variables() -> dict[str, str]:
    """Return the variables that a download gets besides, those of `OF_DOWNLOADS` that this process has."""
    return _present(OF_DOWNLOADS)


def _present(names: tuple[str, ...]) -> dict[str, str]:
    return {name: os.environ[name] for name in names if name in os.environ}

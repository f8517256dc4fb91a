"""Addresses of sources, which may hold a login or a token: shown without it, everywhere."""

import re
from base64 import b64encode
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit, urlunsplit

HIDDEN = "***"
# A user alone is a token for https, and none for ssh.
USER_ALONE = ("ssh://", "git+ssh://", "ssh+git://")
END = r"\s'\"<>`\\"
LOGIN = re.compile(
    rf"(?P<scheme>\b[A-Za-z][A-Za-z0-9+.-]*://)(?P<login>[^/?#{END}]*@|[^/:@{END}]+:(?!\d+(/|$))[^{END}]*@)"
)
# The form without a scheme, such as user:token@host/path.
PLAIN_LOGIN = re.compile(rf"(?<![\w/@:.%-])(?P<login>[\w.%+-]+:[^/@{END}]+@)(?=[\w-]+(\.[\w-]+|[:/]))")
QUERY = re.compile(rf"(?P<address>\b[A-Za-z][A-Za-z0-9+.-]*://[^?#{END}]*)(?P<mark>[?#])(?P<rest>[^{END}]+)")
# A shorter secret would be taken for parts of other words.
SECRET_CHARACTERS_MIN = 4


def without_logins(text: str) -> str:
    """Return a text in which addresses have `***` in place of logins, and of what follows `?` or `#`."""
    return QUERY.sub(rf"\g<address>\g<mark>{HIDDEN}", PLAIN_LOGIN.sub(f"{HIDDEN}@", LOGIN.sub(_without_login, text)))


def _without_login(match: re.Match[str]) -> str:
    is_user_alone = ":" not in match["login"] and match["scheme"].lower().startswith(USER_ALONE)
    return match[0] if is_user_alone else f"{match['scheme']}{HIDDEN}@"


@dataclass(frozen=True)
class Address:
    """The address of a repository or an archive; as text it is without a login, `real` is for the connection alone."""

    real: str = field(repr=False)

    def __str__(self) -> str:
        return without_logins(self.real)

    __repr__ = __str__

    @property
    def is_secret(self) -> bool:
        """Return whether the address holds what is not shown."""
        return str(self) != self.real

    @property
    def basic_login(self) -> tuple[str, str] | None:
        """Return (URL without its login, value of the header Authorization) of a URL with a login, None without one."""
        parts = urlsplit(self.real)
        login, at, host = parts.netloc.rpartition("@")
        if not at:
            return None
        user, _, password = login.partition(":")
        plain = f"{unquote(user)}:{unquote(password)}".encode()
        return urlunsplit(parts._replace(netloc=host)), f"Basic {b64encode(plain).decode()}"

    def redacted(self, text: str) -> str:
        """Return a text without the secrets of this address, in the forms in which programs print them."""
        if not self.is_secret:
            return without_logins(text)
        for secret in sorted(self._secrets(), key=len, reverse=True):
            text = text.replace(secret, HIDDEN)
        return without_logins(text)

    def _secrets(self) -> set[str]:
        match = LOGIN.search(self.real) or PLAIN_LOGIN.search(self.real)
        login = match["login"].removesuffix("@") if match else ""
        rest = query["rest"] if (query := QUERY.search(self.real)) else ""
        values = {value.partition("=")[2] for value in re.split("[&;]", rest)} | {rest}
        parts = {login, *login.split(":"), *values}
        if self.basic_login:
            parts.add(self.basic_login[1].removeprefix("Basic "))
        return {form for part in parts for form in (part, unquote(part)) if len(form) >= SECRET_CHARACTERS_MIN}

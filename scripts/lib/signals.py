"""The termination signals that this process has received: once there is one, it starts and writes nothing more."""

received: list[int] = []


def leave_if_signalled() -> None:
    """Raise SystemExit(128 + signal) if a termination signal was received.

    Its first SystemExit may be lost: libraries drop exceptions, such as PyMySQL while it closes a socket.
    """
    if received:
        raise SystemExit(128 + received[0])

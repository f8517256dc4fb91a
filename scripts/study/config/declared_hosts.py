"""What a study declares of CPUs and of the client host."""

from typing import Annotated, Literal

from pydantic import Field, Tag

from scripts.study.config.scalars import (
    MAPPING,
    TEXT,
    ConfigKeys,
    CpuSet,
    IpAddress,
    Stated,
    Word,
    tagged,
    tagged_by_key,
    text,
)

Port = Annotated[int, Field(ge=1024, le=65535, description="The port the server listens on.")]


class CpuPlacement(ConfigKeys):
    """CPUs by number, or NUMA nodes."""

    server: CpuSet = Field(description="CPUs of the server; none that `client` has.")
    client: CpuSet = Field(description="CPUs of the load generator; none that `server` has.")


class ClientSsh(ConfigKeys):
    """A host that is reached by ssh."""

    ssh: Annotated[str, text(r"^[A-Za-z0-9_][A-Za-z0-9_.@:%-]*$", 255)] = Field(
        title="the name of a host, as ssh takes it",
        description=("The host as ssh takes it; it must accept us without a password and have python3 and sysbench."),
    )
    address: Stated[IpAddress] = Field(default=None)
    port: Port = Field(default=13306)


class ClientCommand(ConfigKeys):
    """A place where a command of yours runs commands."""

    command: list[Word] = Field(
        min_length=1, max_length=100, description="The words put in front of a command to run it there."
    )
    address: IpAddress = Field()
    port: Port = Field(default=13306)


Placement = Annotated[
    Annotated[Literal["automatic"], Field(description="Disjoint CPUs"), Tag(TEXT)]
    | Annotated[CpuPlacement, Tag(MAPPING)],
    tagged(dict, MAPPING),
]
ClientDeclaration = Annotated[
    Annotated[ClientSsh, Tag("ssh")] | Annotated[ClientCommand, Tag("command")], tagged_by_key("ssh", "command")
]

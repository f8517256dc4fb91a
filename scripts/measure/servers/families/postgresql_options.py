"""Options of PostgreSQL: which the workflow sets, what the others can reach, and the libraries that they can name."""

from pathlib import Path

from scripts.measure.servers.families.option_rules import (
    FROM_CLIENT,
    FROM_STORAGE,
    FROM_WORKFLOW,
    NO_ACCOUNTS,
    ONE_LOG,
    by_name,
)
from scripts.measure.servers.families.option_values import KINDS_BY_NAME, LIBRARY_SUFFIX, OptionKind

OWNED_BY = {
    FROM_CLIENT: ("listen_addresses", "port", "bonjour*"),
    FROM_STORAGE: ("data_directory",),
    FROM_WORKFLOW: ("unix_socket_*", "external_pid_file", "config_file", "include", "include_*"),
    NO_ACCOUNTS: ("hba_file", "ident_file"),
    ONE_LOG: ("log_destination", "logging_collector", "log_directory", "log_filename"),
}
BY_KIND = {
    OptionKind.TEXT: (
        "log_line_prefix",
        "cluster_name",
        "*application_name",
        "event_source",
        "syslog_ident",
        "ssl_*ciphers",
    ),
    OptionKind.INPUT: (
        *("ssl_ca_file", "ssl_cert_file", "ssl_crl_dir", "ssl_crl_file", "ssl_dh_params_file", "ssl_key_file"),
        "krb_server_keyfile",
    ),
    # Options of PL/Java start a virtual machine with what they hold.
    OptionKind.COMMAND: ("pljava.*options",),
    OptionKind.LIBRARY: ("jit_provider",),
    # Debian's extension_destdir is a second root for extensions and their libraries.
    OptionKind.LIBRARY_FOLDER: (
        *("dynamic_library_path", "extension_control_path", "extension_destdir"),
        *("pljava.libjvm_location", "pljava.classpath", "pljava.module_path"),
    ),
}
KINDS = KINDS_BY_NAME | by_name(BY_KIND)

# Where an installation keeps what its server loads, below the folder above the program's; each has SURE_LIBRARY.
LIBRARY_FOLDERS = ("lib", "lib/postgresql", "lib64/pgsql", "lib/pgsql", "lib64/postgresql", "lib64")
SURE_LIBRARY = "plpgsql.so"
# What a preload list or archive_library can name: of every build, and of the sources' contrib (releases 10 to 18).
BUILT = frozenset({"plpgsql"})
CONTRIB = frozenset(
    {
        *("auth_delay", "auto_explain", "basebackup_to_shell", "basic_archive", "isn", "passwordcheck"),
        *("pg_overexplain", "pg_prewarm", "pg_stat_statements", "pg_trgm", "postgres_fdw"),
    }
)


def libraries_beside(program: Path) -> frozenset[str] | None:
    """Return the names of the libraries in the installation of a server program, None where they are not found."""
    root = program.resolve().parent.parent
    folder = next((root / name for name in LIBRARY_FOLDERS if (root / name / SURE_LIBRARY).is_file()), None)
    if folder is None:
        return None
    return frozenset(path.name.removesuffix(LIBRARY_SUFFIX) for path in folder.rglob(f"*{LIBRARY_SUFFIX}"))


def file_value(text: str) -> str:
    """Return a value as the option file has it, so that the server reads exactly this text."""
    escaped = text.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"

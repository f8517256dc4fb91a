"""Options of MySQL and MariaDB: their spellings, which the workflow sets, and what the others can reach."""

import re

from scripts.measure.servers.families.option_rules import (
    FROM_CLIENT,
    FROM_SERVER,
    FROM_STORAGE,
    FROM_WORKFLOW,
    NO_ACCOUNTS,
    ONE_LOG,
    by_name,
)
from scripts.measure.servers.families.option_values import KINDS_BY_NAME, OptionKind

# The server strips these from an option's name.
PREFIX = re.compile(r"(?:loose|skip|disable|enable|maximum|autoset)_")
# Options of their own, though the names of listed ones begin with them.
WHOLE_NAMES = frozenset({"innodb", "innodb_doublewrite", "lc_messages", "log", "s3"})
NO_LIBRARIES = "the server loads no libraries besides its own; compile plugins in with `configure` of the server"
OWNED_BY = {
    FROM_CLIENT: (
        *("networking", "bind_address", "port", "extra_port", "admin_address", "admin_port", "mysqlx*", "wsrep_*"),
        "create_admin_listener_thread",
    ),
    FROM_STORAGE: (
        *("datadir", "tmpdir", "innodb_data_home_dir", "innodb_log_group_home_dir", "innodb_undo_directory"),
        *("innodb_doublewrite_dir", "innodb_temp_tablespaces_dir", "innodb_directories", "innodb_tmpdir"),
        "aria_log_dir_path",
    ),
    FROM_SERVER: ("basedir", "lc_messages_dir", "language", "character_sets_dir"),
    FROM_WORKFLOW: (
        *("socket", "pid_file", "user", "chroot", "secure_file_priv", "bootstrap", "initialize", "initialize_insecure"),
        *("daemonize", "help", "version", "validate_config", "log_basename"),
    ),
    NO_ACCOUNTS: ("init_file", "grant_tables"),
    NO_LIBRARIES: ("plugin_dir", "plugin_load*", "early_plugin_load"),
    ONE_LOG: ("log_error", "console"),
}
BY_KIND = {
    OptionKind.TEXT: (
        *("init_connect", "init_slave", "init_replica", "ft_boolean_syntax", "report_password", "*_secret_key"),
        *("proxy_protocol_networks", "persist_only_admin_x509_subject"),
    ),
    OptionKind.INPUT: (
        *("ssl_*", "admin_ssl_*", "clone_ssl_*", "*_private_key_path", "*_public_key_path", "ft_stopword_file"),
        *("des_key_file", "validate_password*dictionary_file", "cracklib_password_check_dictionary", "mecab_rc_file"),
        *("gssapi_keytab_path", "file_key_management_filename", "file_key_management_filekey"),
        *("hashicorp_key_management_vault_ca", "keyring_vault_config"),
    ),
    OptionKind.CONNECTION: (
        *("feedback*", "group_replication*", "daemon_memcached*", "handlersocket_*", "keyring_migration_*"),
        *("ndb_connectstring", "ndb_mgmd_host", "s3_host_name"),
    ),
}
KINDS = by_name(BY_KIND) | KINDS_BY_NAME

# Inside quotes the option file's reader takes nothing but a backslash for more than itself.
NEEDS_QUOTES = re.compile(r"[#\"']|^\s|\s$")


def without_prefixes(name: str) -> str:
    """Return a name without the words that the server strips from its front, such as `loose_` and `skip_`."""
    while shorter := PREFIX.match(name):
        name = name[shorter.end() :]
    return name


def shortened(name: str, full_name: str) -> bool:
    """Return whether the server may take a name for a longer one."""
    return name not in WHOLE_NAMES and full_name.startswith(name)


def file_value(text: str) -> str:
    """Return a value as the option file has it, so that the server reads exactly this text."""
    escaped = text.replace("\\", "\\\\")
    return '"' + escaped.replace('"', '\\"') + '"' if NEEDS_QUOTES.search(text) else escaped

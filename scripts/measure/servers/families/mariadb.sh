# shellcheck shell=bash disable=SC2154
# How start.sh, which sets $here and $sockets, makes a data directory and starts the server.

server=(
    "$here/bin/mariadbd" --no-defaults --basedir="$here"
    --lc-messages-dir="$here/share" --character-sets-dir="$here/share/charsets"
)

initialise() { # DATA_FOLDER; root gets no password: whoever may enter the socket's folder is root
    local scripts=(
        "$here"/share/{mysql_system_tables,mysql_performance_tables,mysql_system_tables_data}.sql
        "$here"/share/{maria_add_gis_sp_bootstrap,mysql_sys_schema}.sql
    )
    [[ -e ${scripts[-1]} ]] || unset 'scripts[-1]' # the last is there since 10.6
    {
        printf '%s;\n' 'CREATE DATABASE mysql' 'USE mysql' 'SET @auth_root_socket=NULL' # one statement a line
        cat "${scripts[@]}"
    } | "${server[@]}" --datadir="$1" --bootstrap --silent-startup
}

start() { # DATA_FOLDER OPTION...
    exec "${server[@]}" --datadir="$1" --socket="$sockets/server.sock" --pid-file="$sockets/server.pid" \
        --skip-networking "${@:2}"
}

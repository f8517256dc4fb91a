# shellcheck shell=bash disable=SC2154
# How start.sh, which sets $here and $sockets, makes a data directory and starts the server.

server=(
    "$here/bin/mysqld" --no-defaults --basedir="$here" --secure-file-priv=
    --lc-messages-dir="$here/share" --character-sets-dir="$here/share/charsets"
)

initialise() { # DATA_FOLDER; root gets no password: whoever may enter the socket's folder is root
    case $(cat "$here/release.txt") in
    5.5.* | 5.6.*)
        {
            printf '%s;\n' 'CREATE DATABASE mysql' 'USE mysql' # one statement a line
            cat "$here"/share/mysql_system_tables{,_data}.sql | sed '/@current_hostname/d'
        } | "${server[@]}" --datadir="$1" --bootstrap
        ;;
    *) "${server[@]}" --datadir="$1" --initialize-insecure ;;
    esac
}

start() { # DATA_FOLDER OPTION...
    exec "${server[@]}" --datadir="$1" --socket="$sockets/server.sock" --pid-file="$sockets/server.pid" \
        --skip-networking --loose-mysqlx=OFF "${@:2}"
}

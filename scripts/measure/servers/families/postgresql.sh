# shellcheck shell=bash disable=SC2154
# How start.sh, which sets $here and $sockets, makes a data directory and starts the server.

export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

initialise() { # DATA_FOLDER; the superuser has the name of the user who calls, and nobody else can be it
    "$here/bin/initdb" --pgdata="$1" --username="$(id -un)" --auth-local=peer --auth-host=scram-sha-256 \
        --locale=C --encoding=UTF8
}

start() { # DATA_FOLDER OPTION...
    exec "$here/bin/postgres" -D "$1" -c listen_addresses= -c unix_socket_directories="\"$sockets\"" "${@:2}"
}

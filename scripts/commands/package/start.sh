#!/usr/bin/env bash
# Start this server as the user who calls: socket in the folder named, data in ./data, made at the first start.
# Usage: start.sh SOCKET_FOLDER [DATA_FOLDER [OPTION OF THE SERVER ...]]
set -euo pipefail

fail() {
    printf 'start.sh: %s\n' "$*" >&2
    exit 2
}

[ $# -ge 1 ] || fail 'usage: start.sh SOCKET_FOLDER [DATA_FOLDER [OPTION OF THE SERVER ...]]'
[ "$(id -u)" -ne 0 ] || fail 'run it as another user than root, such as: runuser -u nobody -- ./start.sh ...'

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
umask 077
mkdir -p "$1"
[ "$(stat --format=%a "$1")" = 700 ] || fail "$1: other users can enter it, expected a new folder or one of mode 700"
sockets=$(cd "$1" && pwd)
data=${2:-data}
# shellcheck source=scripts/measure/servers/families/mariadb.sh
source "$here/server.sh"

# 107 bytes is what the kernel allows
[ "${#sockets}" -le 90 ] || fail "$sockets: too long for the path of a socket, which may have 90 bytes"

if [ ! -d "$data" ]; then
    # what an interrupted start left behind is no data directory
    rm -rf "$data.unfinished"
    mkdir -p "$data.unfinished"
    initialise "$(cd "$data.unfinished" && pwd)"
    mv "$data.unfinished" "$data"
fi
start "$(cd "$data" && pwd)" "${@:3}"

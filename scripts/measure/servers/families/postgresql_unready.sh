#!/bin/sh
# Removes the shared memory of a PostgreSQL server that was killed before it was ready: nobody knows its control file
# then. postgresql_unready.sh DATA OLDER, where OLDER is a file written before the server started: of the files in
# /dev/shm that are newer, those go which no process has mapped. It looks again, as dying processes keep theirs for a
# while.
data=$1 older=$2
segment=$(sed -n '7s/.* //p' "$data/postmaster.pid" 2>/dev/null)
ipcrm -m "${segment:--1}" 2>/dev/null
for delay in 0 0.1 0.5 2; do
    sleep "$delay"
    files=$(find /dev/shm -maxdepth 1 -name 'PostgreSQL.*' -newer "$older") left=
    for file in $files; do
        if cat /proc/[0-9]*/maps 2>/dev/null | grep -qF "$file"; then
            left=$file
        else
            rm -f "$file"
        fi
    done
    [ "$left" ] || break
done

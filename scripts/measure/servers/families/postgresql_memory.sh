#!/bin/sh
# Removes the shared memory that a killed PostgreSQL server leaves: postgresql_memory.sh SEGMENT CONTROL
# SEGMENT is the number of its System V segment, CONTROL its control file in /dev/shm, which lists the files of the
# others: a head of 16 bytes (magic, items used, items in all), then the items, which begin with a file's number
# (dsm.c of PostgreSQL; a later release may have longer items, so their length follows from the size of the file).
MAGIC=2588949810 HEAD=16 WORD=4

segment=$1 control=$2
ipcrm -m "$segment" 2>/dev/null
[ -f "$control" ] || exit 0
bytes=$(stat -c %s "$control")
# shellcheck disable=SC2046 # numbers
set -- $(od -A n -v -t u4 "$control")
[ "$1" = "$MAGIC" ] || exit 0
used=$2 step=$(((bytes - HEAD) / $3 / WORD))
shift $((HEAD / WORD))
while [ "$used" -gt 0 ] && [ $# -ge "$step" ]; do
    rm -f "${control%.*}.$1"
    shift "$step"
    used=$((used - 1))
done
rm -f "$control"

"""What connections and background threads of MySQL and MariaDB wait for, as the performance schema times it."""

import pymysql

# 5.5 has every instrument on, and no option for them.
OPTIONS = {"performance_schema": True, "loose_performance_schema_instrument": "wait/%=ON"}
SAMPLED = False
# Waits for the load generator, and what is no wait of its own: the whole work of the engine on a table.
FOR_CLIENT = ("wait/io/socket/sql/client_connection",)
WORK = "wait/io/table/%"
QUERY = f"""
    SELECT IF(threads.NAME LIKE 'thread/%/one_connection' OR threads.NAME LIKE '%worker_thread', 'connections',
              'background'), EVENT_NAME, SUM(COUNT_STAR), SUM(SUM_TIMER_WAIT) / 1e12
    FROM performance_schema.events_waits_summary_by_thread_by_event_name
    JOIN performance_schema.threads USING (THREAD_ID)
    WHERE COUNT_STAR > 0 AND EVENT_NAME NOT LIKE '{WORK}' AND EVENT_NAME <> 'idle'
        AND NOT (PROCESSLIST_ID <=> CONNECTION_ID())
    GROUP BY 1, 2
"""


def read(connection: pymysql.Connection) -> dict[tuple[str, str], tuple[float, float]]:
    """Return (who, event) -> waits so far and seconds, of the threads alive now."""
    with connection.cursor() as cursor:
        cursor.execute(QUERY)
        return {(who, event): (float(count), float(seconds)) for who, event, count, seconds in cursor.fetchall()}

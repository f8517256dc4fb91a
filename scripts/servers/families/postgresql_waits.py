"""What connections and background processes of PostgreSQL wait for, as each says of itself at one moment."""

from typing import Any

OPTIONS: dict[str, Any] = {}
SAMPLED = True
# What our own connections call themselves: they would be idle clients among those of the load.
OWN_NAME = "observer"
FOR_CLIENT = ("Client: ClientRead",)
RUNNING = "running, no wait"
# A background process with nothing to do waits by an event of type Activity.
QUERY = f"""
    SELECT CASE backend_type WHEN 'client backend' THEN 'connections' ELSE 'background' END,
           coalesce(wait_event_type || ': ' || wait_event, '{RUNNING}'), count(*)
    FROM pg_stat_activity
    WHERE application_name IS DISTINCT FROM '{OWN_NAME}' AND wait_event_type IS DISTINCT FROM 'Activity'
        AND (wait_event IS NOT NULL OR state = 'active' OR backend_type <> 'client backend')
    GROUP BY 1, 2
"""


def read(connection: Any) -> dict[tuple[str, str], tuple[float, float]]:
    """Return (who, event) -> how many are in it now, twice: this moment's count stands for their waits and time."""
    cursor = connection.cursor()
    cursor.execute(QUERY)
    return {(who, event): (float(count), float(count)) for who, event, count in cursor.fetchall()}

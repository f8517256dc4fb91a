"""From sources to servers: fetch, compile, train profiles, relink."""

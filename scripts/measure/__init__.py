"""Put load on servers and record what they do."""

"""From tables to sections, sentences and figures of the page and its summary; starts no process."""

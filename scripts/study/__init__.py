"""From a config file to a plan: what is declared, and what that makes."""

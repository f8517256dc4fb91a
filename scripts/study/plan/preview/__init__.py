"""What a run of the workflow would make and why, how long it takes, and which limits it would hit."""

"""What all packages use: the machine, records, words."""

"""Read the YAML of a study, fill in the catalog, and report every mistake with its line."""

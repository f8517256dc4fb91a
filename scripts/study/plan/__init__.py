"""Give each thing a recipe and a path, and draw the order of the runs."""

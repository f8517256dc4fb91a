"""Pack the build of a variant for another machine."""

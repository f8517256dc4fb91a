"""From a declared source to a source tree or an installed server: Debian, URL, file, Maven, git, directory."""


class SourceError(ValueError):
    """A source that gives no usable tree; the text names the source, what is wrong with it, and what was expected."""

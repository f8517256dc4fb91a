"""The private package lists name sources only, keep keys and options, and cannot turn signature checks off."""

from scripts.build.sources.debian import source_deb822, source_list, write_lists


def test_one_line_entries_become_deb_src_once_each():
    text = """\
# deb http://old.example/debian stretch main
deb http://mirror.example/debian bookworm main contrib # trailing words
deb-src http://mirror.example/debian bookworm main contrib

deb [arch=amd64 signed-by=/usr/share/keyrings/a.gpg] https://third.example/apt stable main
deb cdrom:[Debian 12]/ bookworm main
"""
    assert source_list(text) == (
        "deb-src http://mirror.example/debian bookworm main contrib\n"
        "deb-src [arch=amd64 signed-by=/usr/share/keyrings/a.gpg] https://third.example/apt stable main\n"
    )


def test_trusted_option_is_dropped_from_one_line_entries():
    text = "deb [trusted=yes allow-insecure=yes lang=en] http://mirror.example/debian bookworm main\n"
    assert source_list(text) == "deb-src [lang=en] http://mirror.example/debian bookworm main\n"


def test_deb822_stanza_keeps_everything_but_its_type():
    text = """\
Types: deb
# http://snapshot.example/archive
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mQINBF
 -----END PGP PUBLIC KEY BLOCK-----

Types: deb deb-src
URIs: http://security.example/debian-security
Suites: bookworm-security
Components: main
Enabled: no
"""
    assert (
        source_deb822(text)
        == """\
Types: deb-src
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mQINBF
 -----END PGP PUBLIC KEY BLOCK-----

Types: deb-src
URIs: http://security.example/debian-security
Suites: bookworm-security
Components: main
Enabled: no
"""
    )


def test_trusted_field_and_its_continuation_are_dropped_from_deb822():
    text = "Types: deb\nTrusted:\n yes\nAllow-Insecure: yes\nURIs: http://m.example/\nSuites: ./\n"
    assert source_deb822(text) == "Types: deb-src\nURIs: http://m.example/\nSuites: ./\n"


def test_cdrom_stanza_and_comment_only_text_give_nothing():
    assert source_deb822("Types: deb\nURIs: cdrom:[Debian]/\nSuites: bookworm\n") == ""
    assert source_deb822("# sources are in debian.sources\n") == ""


def test_disabled_files_and_files_of_other_kinds_are_not_read(tmp_path):
    parts = tmp_path / "system.d"
    parts.mkdir()
    (parts / "a.sources").write_text("Types: deb\nURIs: http://a.example/\nSuites: x\nComponents: main\n")
    (parts / "b.list").write_text("deb http://b.example/ x main\n")
    (parts / "c.sources.disabled").write_text("Types: deb\nURIs: http://c.example/\nSuites: x\nComponents: main\n")
    assert write_lists(tmp_path / "absent.list", parts, tmp_path / "private") == 2
    assert sorted(path.name for path in (tmp_path / "private").iterdir()) == ["a.sources", "b.list"]
    assert (tmp_path / "private" / "b.list").read_text() == "deb-src http://b.example/ x main\n"

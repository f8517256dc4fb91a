"""Variables of a study that load foreign code, change what is read, or seem to reach a compiler are refused."""

import pytest

from scripts.study.config.yaml_lines import ConfigError
from tests.made.studies import plan

SERVERS = {"baseline": {"server": "postgresql-15", "build": "baseline"}, "b": {"server": "postgresql-15", "build": "x"}}
LOADED = ["LD_AUDIT", "LD_LIBRARY_PATH", "LD_DEBUG_OUTPUT", "LD_PROFILE", "GCONV_PATH", "OPENSSL_CONF", "BASH_ENV"]
READ = ["LC_ALL", "LANGUAGE", "LLVM_PROFILE_FILE"]
COMPILED = ["CFLAGS", "CC", "LDFLAGS", "GCC_EXEC_PREFIX", "CPATH", "MAKEFLAGS", "CMAKE_PREFIX_PATH"]


def told_of(name, **keys):
    with pytest.raises(ConfigError) as caught:
        plan(**keys)
    (line,) = [line for line in str(caught.value).splitlines() if name in line]
    return line


@pytest.mark.parametrize("name", [*LOADED, *READ, *COMPILED])
def test_a_build_is_refused_with_key_value_and_expectation(name):
    line = told_of(name, builds={"x": {"environment": {name: "/tmp/evil.so"}}}, variants=SERVERS)
    assert f"builds.x.environment.{name}: '/tmp/evil.so' cannot be given: " in line
    assert "expected " in line


@pytest.mark.parametrize("name", [*LOADED, *READ, *COMPILED])
def test_a_variant_is_refused(name):
    variants = {**SERVERS, "b": {**SERVERS["baseline"], "environment": {name: "x"}}}
    assert f"variants.b.environment.{name}: 'x' cannot be given: " in told_of(name, variants=variants)


@pytest.mark.parametrize("name", [*LOADED, *READ, "LUA_CPATH", "MARIADB_PLUGIN_DIR"])
def test_a_client_environment_is_refused(name):
    assert f"client_environment.{name}: 'x' cannot be given: " in told_of(name, client_environment={name: "x"})


def test_allocators_and_their_settings_stay():
    given = {
        "LD_PRELOAD": "/lib/libjemalloc.so.2",
        "MALLOC_CONF": "narenas:4",
        "MALLOC_ARENA_MAX": "2",
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
        "LD_BIND_NOW": "1",
    }
    planned = plan(
        builds={"x": {"environment": given}},
        variants={**SERVERS, "b": {**SERVERS["b"], "environment": {"MALLOC_CONF": "narenas:8"}}},
        client_environment=given,
    )
    assert planned.environment("b") == {**given, "MALLOC_CONF": "narenas:8"}

"""What a config with servers that already run may say, and what it is refused by name."""

import pytest

from scripts.lib import json_record
from scripts.lib.vocabulary import SLICES
from scripts.study.config.loading import load
from scripts.study.config.yaml_lines import ConfigError
from scripts.study.plan.methods import Methods
from scripts.study.plan.recipes import Plan
from scripts.study.plan.schedule import Schedule
from tests.made.studies import CHECKOUT, config

LOGIN = "/nowhere/login.yaml"


def source(**changes):
    made = {"running": "db.example.com:5432", "credentials": LOGIN, **changes}
    return {key: value for key, value in made.items() if value is not None}


def running(own=None, variant=None, **changes):
    """Return a config of two variants on one server that already runs; the second has the keys of `variant`, too."""
    server = {"family": "postgresql", "product": "PostgreSQL", "version": "16", "sources": [own or source()]}
    one = {"server": "managed", "build": "prebuilt"}
    variants = {"one": one, "two": {**one, **(variant or {})}}
    return config(**{"servers": {"managed": server}, "variants": variants, "reference": "one", **changes})


def mistakes(changed):
    with pytest.raises(ConfigError) as caught:
        load(changed, CHECKOUT, "small.yaml")
    return str(caught.value)


def planned(changed):
    return Plan(load(changed, CHECKOUT, "small.yaml"), CHECKOUT)


def test_two_variants_on_a_server_that_already_runs_are_a_study():
    assert list(load(running(), CHECKOUT, "small.yaml").arms) == ["one", "two", "aa"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"variant": {"build": "pgo"}}, "variants.two.build: 'pgo' of 'managed', expected 'prebuilt'"),
        ({"variant": {"options": {"jit": False}}}, "variants.two.options: expected none: 'managed' already runs"),
        ({"variant": {"environment": {"A": "b"}}}, "variants.two.environment: expected none: 'managed' already runs"),
        ({"variant": {"data": {"fresh": True}}}, "variants.two.data.fresh: `fresh` loads tables before every run"),
        ({"variant": {"storage": "m"}, "storage": {"m": "/tmp"}}, "variants.two.storage: expected none: 'managed'"),
        ({"storage": {"m": "/tmp"}}, "storage: expected none: 'managed' already runs"),
        ({"options": {"jit": False}}, "options: expected none: 'managed' already runs"),
        ({"placement": {"server": "0", "client": "1"}}, "placement: expected none: 'managed' already runs"),
        ({"diagnose": {"tools": ["perf"]}}, "diagnose: expected none: 'managed' already runs"),
        ({"client": {"ssh": "elsewhere"}}, "client: expected none: 'managed' already runs"),
        ({"client_environment": {"A": "b"}}, "client_environment: expected none: 'managed' already runs"),
        ({"restart": "never"}, "restart: expected none: 'managed' already runs, and nothing restarts it anyway"),
        ({"together": 1}, "together: 1, expected at least 3: 'managed' already runs"),
        ({"datasets": {"sbtest": {"fresh": True}}}, "workloads.oltp.dataset: 'sbtest': `fresh` loads tables"),
        ({"workloads": {"oltp": {"options": {"rate": 5}}}}, "workloads.oltp.options.rate: expected none: a load with"),
        (
            {"workloads": {"q": {"sql": "mediawiki.sql", "dataset": "sbtest"}}, "clients": [1]},
            "workloads.q: timed SQL needs a server just started",
        ),
        ({"own": source(credentials=None)}, "servers.managed.sources.0: has neither, expected either `credentials`"),
        ({"own": source(environment="DB")}, "servers.managed.sources.0: has credentials and environment, expected"),
        ({"own": source(ca="/ca.pem", tls=False)}, "servers.managed.sources.0.ca: '/ca.pem' beside `tls: false`"),
        ({"own": source(running="db.example.com:70000")}, "servers.managed.sources.0.running: port 70000, expected 1"),
        ({"own": source(password="geheim")}, "servers.managed.sources.0"),
    ],
)
def test_what_only_a_server_of_the_workflows_own_can_follow_is_refused_by_name(changes, expected):
    assert expected in mistakes(running(**changes))


def test_localhost_is_refused_where_the_client_library_takes_it_for_a_socket():
    own = source(running="localhost:3306")
    server = {"family": "mariadb", "product": "MariaDB", "version": "10.11", "sources": [own]}
    told = mistakes(running(servers={"managed": server}))
    assert "servers.managed.sources.0.running: 'localhost:3306', expected an address such as 127.0.0.1" in told
    load(running(source(running="localhost:5432")), CHECKOUT, "small.yaml")


def test_servers_that_run_and_servers_that_are_started_are_no_variants_of_one_study():
    variants = {"one": {"server": "managed", "build": "prebuilt"}, "two": {"server": "postgresql-15", "build": "pgo"}}
    told = mistakes(running(variants=variants))
    assert "variants.two.server: 'postgresql-15' is started here and 'managed' already runs" in told


def test_where_the_login_lies_is_in_no_recipe_but_address_and_missing_tls_are():
    made = planned(running())
    assert LOGIN not in json_record.canonical(
        [each.dump() for each in (made.variant("one"), made.load("one", "oltp"), made.source("managed"))]
    )
    moved = planned(running(source(credentials="/elsewhere", ca="/ca.pem")))
    assert moved.variant("one").digest == made.variant("one").digest
    for other in (source(running="db2.example.com:5432"), source(tls=False)):
        assert planned(running(other)).variant("one").digest != made.variant("one").digest


def test_a_database_is_of_the_studys_own_name_and_each_dataset_has_another():
    names = {
        planned(running(study=study, datasets={"sbtest": {"rows": rows}})).dataset("managed", "sbtest", {}).database
        for study in ("a", "a" * 60)
        for rows in (1000, 2000)
    }
    assert len(names) == 4
    assert all(name.startswith("pgobench_a") and len(name) <= 63 for name in names)


def test_blocks_are_measured_in_slices_however_little_memory_there_is_and_nothing_is_checked():
    made = planned(running())
    method = Methods(made, 1.0).of("oltp", 8)
    assert (method.name, method.why, method.most_arms) == (SLICES, "", 3)
    assert Schedule(made).checks == []
    assert Schedule(made).judged("managed", "prebuilt") == []

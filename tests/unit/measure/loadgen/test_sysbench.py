"""What a sysbench binary can do, and the command lines composed for it."""

import shutil
from pathlib import Path

import pytest

from scripts.measure.loadgen import sysbench

DATA = Path(__file__).parents[3] / "data" / "sysbench"
needs_sysbench = pytest.mark.skipif(not shutil.which("sysbench"), reason="sysbench is not installed")


def recorded(name: str) -> str:
    return (DATA / f"{name}.txt").read_text()


@pytest.fixture
def capabilities() -> sysbench.Capabilities:
    return sysbench.capabilities_from(
        "sysbench 1.0.20\n",
        recorded("1.0.20-help"),
        "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n",
        path="/usr/bin/sysbench",
        sha256="ab",
    )


def command(capabilities, **changes) -> list[str]:
    arguments = {
        "script": "oltp_read_only",
        "driver_flags": ["--db-driver=mysql", "--mysql-socket=/s"],
        "tables": 4,
        "rows": 1000,
        "options": {"point_selects": 1, "range_selects": False},
        "clients": 8,
        "seconds": 6,
        "seed": 7,
    }
    return sysbench.measuring_call(capabilities, **(arguments | changes)).argv


class TestCapabilities:
    def test_are_read_from_the_help_text(self, capabilities):
        assert (capabilities.version, capabilities.drivers) == ("1.0.20", ("mysql", "pgsql"))
        assert capabilities.luajit == "system LuaJIT 2.1.0-beta3"
        assert {"histogram", "rand-seed", "mysql-socket"} <= capabilities.options
        assert "warmup-time" not in capabilities.options

    def test_of_1_1_include_its_new_options(self):
        help_text = recorded("1.0.20-help").replace(
            "  --forced-shutdown", "  --warmup-time=N   execute events [0]\n  --forced-shutdown", 1
        )
        found = sysbench.capabilities_from("sysbench 1.1.0-df89d34\n", help_text, "", path="x", sha256="")
        assert found.version == "1.1.0-df89d34"
        assert "warmup-time" in found.options

    @pytest.mark.parametrize("answer", ["sysbench 0.4.12", "", "bash: sysbench: cannot execute"])
    def test_anything_but_1_x_is_refused(self, answer):
        with pytest.raises(ValueError, match=r"/opt/sysbench: reports version .* expected sysbench 1\.0 or 1\.1"):
            sysbench.capabilities_from(answer, "", "", path="/opt/sysbench", sha256="")

    def test_missing_program_is_named(self):
        with pytest.raises(ValueError, match=r"no-such-sysbench: not found.*install the package"):
            sysbench.read_capabilities("no-such-sysbench")

    @needs_sysbench
    def test_of_the_installed_sysbench(self):
        found = sysbench.read_capabilities()
        assert found.version.startswith("1.")
        assert "histogram" in found.options
        assert "mysql" in found.drivers
        assert len(found.sha256) == 64
        assert "LuaJIT" in found.luajit


class TestCommand:
    def test_holds_dataset_workload_and_measuring_options(self, capabilities):
        argv = command(capabilities)
        assert argv[:4] == ["/usr/bin/sysbench", "oltp_read_only", "--db-driver=mysql", "--mysql-socket=/s"]
        assert argv[-1] == "run"
        assert set(argv[4:-1]) == {
            *("--tables=4", "--table_size=1000", "--point_selects=1", "--range_selects=off", "--db-ps-mode=disable"),
            *("--threads=8", "--time=6", "--events=0", "--report-interval=1", "--rand-seed=7"),
            *("--percentile=95", "--histogram=on"),
        }

    def test_workload_overrides_prepared_statements_in_either_spelling(self, capabilities):
        argv = command(capabilities, options={"db_ps_mode": "auto"})
        assert "--db_ps_mode=auto" in argv
        assert "--db-ps-mode=disable" not in argv

    @pytest.mark.parametrize(
        "name",
        ["threads", "rand_seed", "rand-seed", "table_size", "histogram", "mysql-dry-run", "config_file", "num-threads"],
    )
    def test_workload_cannot_set_what_the_study_decides(self, capabilities, name):
        with pytest.raises(ValueError, match=f"options: '{name}' cannot be set here"):
            command(capabilities, options={name: 1})

    def test_driver_the_binary_lacks_is_named(self, capabilities):
        with pytest.raises(ValueError, match="asked for: oracle; expected one of its own: mysql, pgsql"):
            command(capabilities, driver_flags=["--db-driver=oracle"])

    def test_driver_must_be_stated(self, capabilities):
        with pytest.raises(ValueError, match="asked for: none"):
            command(capabilities, driver_flags=["--mysql-socket=/s"])

    @pytest.mark.parametrize("seed", [0, -1, 2**31])
    def test_seed_sysbench_would_not_take_as_such_is_refused(self, capabilities, seed):
        with pytest.raises(ValueError, match=f"seed: {seed}, expected 1 to 2147483647"):
            command(capabilities, seed=seed)

    def test_many_clients_get_time_to_start_where_the_binary_can(self, capabilities):
        newer = sysbench.Capabilities(**{**vars(capabilities), "options": frozenset({"thread-init-timeout"})})
        assert "--thread-init-timeout=120" in command(newer, clients=512)
        assert "--thread-init-timeout=120" not in command(newer, clients=8)
        assert "--thread-init-timeout=120" not in command(capabilities, clients=512)

    def test_one_event_is_the_measuring_call_with_one_client_and_one_event(self, capabilities):
        newer = sysbench.Capabilities(**{**vars(capabilities), "options": frozenset({"thread-init-timeout"})})
        flags, options = ["--db-driver=mysql"], {"point_selects": 1}
        call = sysbench.measuring_call(newer, "oltp", flags, 4, 1000, options, 512, 60, seed=7)
        before, after = set(call.argv), set(call.of_one_event().argv)
        assert before - after == {"--threads=512", "--time=60", "--events=0", "--thread-init-timeout=120"}
        assert after - before == {"--threads=1", "--time=0", "--events=1"}

    def test_call_behind_a_prelude_differs_in_script_and_seconds_alone(self, capabilities):
        options = {"time_limit": 1}
        call = sysbench.measuring_call(capabilities, "oltp", ["--db-driver=mysql"], 4, 1000, options, 8, 6, seed=7)
        behind = call.behind(Path("/slices.lua"), seconds=0)
        assert [pair for pair in zip(call.argv, behind.argv, strict=True) if pair[0] != pair[1]] == [
            ("oltp", "/slices.lua"),
            ("--time=6", "--time=0"),
        ]

    def test_prepare_has_no_measuring_options(self, capabilities):
        argv = sysbench.prepare_command(
            capabilities, "oltp_read_only", ["--db-driver=pgsql"], 4, 1000, {"create_secondary": False}, clients=2
        )
        assert argv[1:] == [
            *("oltp_read_only", "--db-driver=pgsql", "--tables=4", "--table_size=1000", "--create_secondary=off"),
            *("--threads=2", "prepare"),
        ]

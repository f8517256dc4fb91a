"""The adapters to Snakemake: rules reach whatever it does not document through this package alone.

Written for Snakemake 9.27.1 (release.RELEASE, min_version in rules/common.smk, the pin in envs/requirements.in). Each
module checks what it relies on before it uses it; with another Snakemake the message names what is missing.

ancient_inputs
    relies on: `DAG.update_needrun` calls `DAG.bfs` once.
    why: jobs behind an `ancient` input that is made again are not checked for other reasons to run;
        https://github.com/snakemake/snakemake/issues/4166.
    can go when: test_unpatched_snakemake.py fails, that is, Snakemake checks them itself.
interrupts
    relies on: `JobScheduler.exit_gracefully` handles SIGTERM when `onstart` runs, the scheduler waits for jobs in
        `_open_jobs.acquire()`; jobs are in Snakemake's own group.
    why: the handler takes a lock that the thread it interrupts may hold; after an interrupt Snakemake waits for its
        jobs, and never ends when it was interrupted while it started a thread; none of it is reported upstream.
    can go when: test_unpatched_snakemake.py fails.
session.remove_rate_limit
    relies on: `JobScheduler.job_rate_limiter` may be None.
    why: each job leaves a timer that wakes the scheduler beside a measurement, and no value of
        `--max-jobs-per-timespan` means no limit.
    can go when: test_unpatched_snakemake.py fails.
session.register_host
    relies on: `Workflow.global_resources` and `Workflow.register_resource`.
    why: a resource without a limit is unlimited, and a limit in a profile is lost with `--resources` or with
        `--workflow-profile none`; no directive of the Snakefile sets one (issue 1866).
    can go when: Snakemake has such a directive.
session.force
    relies on: `DAG.rules`, and `DAG.forcerules` is not read while a DAG is made.
    why: a job whose input comes from a checkpoint that is not made yet is not checked for reasons to run, so a finished
        report would count as whole although the study asks for another precision.
    can go when: test_stopping_study.py passes without it.
session.make_visible
    relies on: `DefaultFormatter.format` takes a record and returns its text without colours.
    why: commands, errors and logs of failed jobs are printed as they are, and a terminal obeys what a server wrote.
    can go when: Snakemake escapes control characters.
announcing
    relies on: `Workflow.execute` takes `executor_plugin`, and is called for jobs alone; `Workflow.dag_settings`.
    why: while rules are read it is unknown whether jobs, a dry run or --dag is asked for.
    can go when: Snakemake calls `onstart` in a dry run, and says there what is forced.
command_line
    relies on: `Workflow.configfiles` and `Workflow.cores`.
    why: the plan names config files and times; a dry run without `--cores` has one core.
    can go when: Snakemake documents them.
job_records
    relies on: `.snakemake/metadata` holds the records of jobs, and `.snakemake/incomplete` says that they are of this
        release.
    why: the records must move with the results; those of `--persistence-backend db` hold the absolute path of the
        working directory.
    can go when: Snakemake has an option for the place of its records.

terminal, and plugins/snakemake_logger_plugin_steps
    relies on: the interface of logger plugins; `LoggerManager.get_log_handlers`;
        the names RuleException and WorkflowError, of errors that say again what a failed job said.
    why: nine of ten lines of Snakemake's output are about its own work; `--quiet` hides failures too, and with `-n`
        nothing. Only `make` asks for it.
    can go when: Snakemake has a short form of its output.

Rules rely on two more: the value of a param whose function takes `output` is not compared (rules/inputs.smk;
test_unpatched_snakemake.py holds it), and `workflow.is_main_process` (rules/common.smk). Elsewhere only names are
known: builds/profiles and commands/package leave `.snakemake_timestamp` out of folders, host/locks finds "snakemake" in
a command line.

One failure is left to Snakemake: it reads the files of `--configfile` before the Snakefile, so a file that nests deeper
than Python's recursion limit ends in its traceback. `make doctor` reports such a file in one sentence.
"""

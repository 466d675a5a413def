# `make demo` and `make test` work on a fresh machine with Python, make and the package index.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

.PHONY: help demo test lint types unit browser pictures format confidence reproduce high-order large
.PHONY: engine cluster peers heavy tables selection docs clean publish-benchmarks bench-paper bench-race bench-guarantee bench-scale
.PHONY: overhead guard bench-german-credit coverage chaos bench-tables bench-importance figures

help: ## what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 20

$(VENV)/.created:
	$(PYTHON) -m venv $(VENV)
	touch $@

# pip 25.1 is the first version with dependency groups; Python 3.11 brings an older one.
$(VENV)/.pip: $(VENV)/.created
	$(INSTALL) --upgrade 'pip>=25.1'
	touch $@

$(VENV)/.demo: $(VENV)/.created pyproject.toml
	$(INSTALL) --editable '.[cli,sklearn]'
	touch $@

$(VENV)/.test: $(VENV)/.pip pyproject.toml benchmarks/pyproject.toml
	$(INSTALL) --editable '.[all]' --editable benchmarks --group test --group lint --group types
	touch $@

# topshap-bench is not on an index: it and topshap come from this checkout.
$(VENV)/.bench: $(VENV)/.created pyproject.toml benchmarks/pyproject.toml
	$(INSTALL) --editable '.[all]' --editable 'benchmarks[rivals]'
	touch $@

$(VENV)/.browser: $(VENV)/.test
	$(INSTALL) --editable '.[all]' --group browser
	touch $@

demo: $(VENV)/.demo ## the top 5 features behind one prediction, and what they cost
	OMP_NUM_THREADS=1 $(BIN)/topshap demo

test: lint types unit docs ## lint, types, tests, doctests, and the site without warnings

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/lint-imports --no-cache

types: $(VENV)/.test
	$(BIN)/mypy

# Two workers with one thread each: threads of linear algebra that wait for each other take longer than the work.
unit: $(VENV)/.test
	$(ONE_THREAD) $(BIN)/pytest --numprocesses 2

$(VENV)/.coverage: $(VENV)/.test
	$(INSTALL) --group coverage
	touch $@

coverage: $(VENV)/.coverage ## the tests with coverage, which fail below the floor in pyproject.toml
	$(ONE_THREAD) $(BIN)/pytest --numprocesses 2 --cov --cov-report=term:skip-covered --cov-report=xml

browser: $(VENV)/.browser $(VENV)/.docs ## the report and the site in a real Chromium, which is installed if missing; screenshots are kept
	(command -v chromium && command -v chromedriver) || (apt-get update && apt-get install --yes chromium chromium-driver)
	OMP_NUM_THREADS=1 $(BIN)/pytest -m browser tests/show tests/test_site_in_browser.py

pictures: $(VENV)/.test ## the pictures of the README and the recorded run of the landing page, into docs/images
	$(BIN)/python docs/pictures.py

$(VENV)/.docs: $(VENV)/.pip pyproject.toml
	$(INSTALL) --editable '.[all]' --group docs
	touch $@

docs: $(VENV)/.docs ## the site, into site; the scripts of the gallery are run for it
	OMP_NUM_THREADS=1 NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

format: $(VENV)/.test ## format and fix what can be fixed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The newest shap and shapiq need Python 3.12 or later: make bench-tables PYTHON=python3.13
$(VENV)/.bench-tables: $(VENV)/.created pyproject.toml benchmarks/pyproject.toml
	$(INSTALL) --editable '.[all]' --editable 'benchmarks[tables]'
	touch $@

$(VENV)/.bench-importance: $(VENV)/.created pyproject.toml benchmarks/pyproject.toml
	$(INSTALL) --editable '.[all]' --editable 'benchmarks[importance]'
	touch $@

GAMES ?=
BASELINES ?=
RESULTS ?= topshap-bench
BENCH = $(ONE_THREAD) $(BIN)/topshap-bench
# The newest shap and shapiq need Python 3.12 or later, which the virtual environment of the tests may not have.
RIVALS_VENV := .venv-rivals
RIVALS_PYTHON ?= $(shell for python in python3.13 python3.12 \
	$$(ls -rd $${PYENV_ROOT:-$$HOME/.pyenv}/versions/3.1[23].*/bin/python 2>/dev/null) $(PYTHON); do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && echo "$$python" && break; done)
FOLDERS = $(if $(GAMES),--games $(GAMES)) --out $(RESULTS)

confidence: $(VENV)/.bench ## evaluations until confident, with GAMES=dir BASELINES=dir
	$(BENCH) fixed-confidence --games $(GAMES) --baselines $(BASELINES)

reproduce: $(VENV)/.bench ## the published figures, with GAMES=dir BASELINES=dir
	$(BENCH) reproduce --games $(GAMES) --baselines $(BASELINES)

bench-paper: $(VENV)/.bench ## the paper's figures and its Table 1, into RESULTS=dir, with GAMES=dir if there are any
	$(BENCH) paper $(FOLDERS)

bench-german-credit: $(VENV)/.bench ## the German credit game of Table 1, from OpenML or DATASETS=dir; hours, resumable
	$(BENCH) german-credit --out $(RESULTS) $(if $(DATASETS),--folder $(DATASETS))

$(RIVALS_VENV)/.bench: pyproject.toml benchmarks/pyproject.toml
	@test -n "$(RIVALS_PYTHON)" || { echo "The newest shap and shapiq need Python 3.12 or 3.13. None was found on the PATH or in pyenv's folder: install one, or name it with RIVALS_PYTHON=path."; exit 1; }
	$(RIVALS_PYTHON) -m venv $(RIVALS_VENV)
	$(RIVALS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[all]' --editable 'benchmarks[rivals]'
	touch $@

bench-race: $(RIVALS_VENV)/.bench ## topshap against the published algorithms and the newest shap, shapiq and lightshap
	$(ONE_THREAD) $(RIVALS_VENV)/bin/topshap-bench race --networks --large --slow $(if $(GAMES),--unseen) $(FOLDERS)

bench-guarantee: $(VENV)/.bench ## how often races that stop by themselves are wrong
	$(BENCH) guarantee $(FOLDERS)

DATASETS ?=
bench-tables: $(VENV)/.bench-tables ## whole tables next to shap, lightshap and shapiq, from OpenML or DATASETS=dir
	$(BENCH) explain-tables $(if $(DATASETS),--folder $(DATASETS))

bench-importance: $(VENV)/.bench-importance ## global importance next to sage-importance and shap, from OpenML or DATASETS=dir
	$(BENCH) importance $(if $(DATASETS),--folder $(DATASETS))

bench-scale: $(VENV)/.bench ## time and memory per access of every algorithm, as players and budgets grow
	$(BENCH) scale --out $(RESULTS)

OLD ?=
overhead: $(VENV)/.bench ## CPU time per access of every algorithm, next to another version with OLD=its/src
	$(BENCH) overhead $(if $(OLD),--old $(OLD))

REVISION ?=
guard: $(VENV)/.bench ## overhead and quality next to the last release, or to REVISION=any or OLD=its/src; fails if worse
	$(BENCH) guard $(if $(OLD),--old $(OLD)) $(if $(REVISION),--revision $(REVISION))

PUBLISHED ?= docs/benchmarks
publish-benchmarks: ## the reports and figures in RESULTS=dir, onto the site's page of benchmarks
	mkdir -p $(PUBLISHED)
	cp $(or $(wildcard $(RESULTS)/*.txt $(RESULTS)/*.png),$(error there are no results in $(RESULTS))) $(PUBLISHED)

figures: ## the figures of the README, from the published reports
	PYTHONPATH=docs $(PYTHON) -m sitetools.readme

high-order: $(VENV)/.bench ## odd-gp against boosted trees on high-order games, with GAMES=dir
	$(BENCH) tree-surrogates --games $(GAMES)

engine: $(VENV)/.bench ## speed-up by workers, overhead of the store, memory of a large game
	$(BENCH) engine

$(VENV)/.cluster: $(VENV)/.test
	$(INSTALL) --editable '.[all,cluster]' --group test
	touch $@

cluster: $(VENV)/.cluster ## dask, ray and many killed runs, for some minutes
	$(ONE_THREAD) $(BIN)/pytest -m cluster tests/evaluation benchmarks/tests tests/test_how_to.py -rA --show-capture=stdout

MINUTES ?= 30
SEED ?= 0
chaos: $(VENV)/.test ## random attacks on stores, files, games and processes, for MINUTES=30
	$(ONE_THREAD) nice -n 10 $(BIN)/python -m chaos --minutes $(MINUTES) --seed $(SEED)

large: $(VENV)/.bench ## odd-gp against least squares on games of 500 and 1000 players
	$(BENCH) large-games

$(VENV)/.peers: $(VENV)/.test
	$(INSTALL) --editable '.[all]' --group peers
	touch $@

peers: $(VENV)/.peers ## values next to those of shap and shapiq, for xgboost too
	OMP_NUM_THREADS=1 $(BIN)/pytest tests/interop/test_peers.py

$(VENV)/.heavy: $(VENV)/.test
	$(INSTALL) --editable '.[all]' --group heavy
	touch $@

heavy: $(VENV)/.heavy ## tests with real text and image models, which take long to install
	OMP_NUM_THREADS=1 $(BIN)/pytest -m heavy tests/test_heavy.py tests/clients

$(VENV)/.neurons: $(VENV)/.test
	$(INSTALL) --editable '.[all,torch]' --editable 'benchmarks[torch]'
	touch $@

neurons: $(VENV)/.neurons ## tests of NeuronGame, its how-to page, gallery script and benchmark, with torch
	$(ONE_THREAD) $(BIN)/pytest tests/games/test_neurons.py src/topshap/games/neurons benchmarks/tests/test_neurons.py
	$(ONE_THREAD) $(BIN)/pytest tests/test_how_to.py -k neurons
	$(ONE_THREAD) $(BIN)/pytest -m heavy tests/test_heavy.py -k network

bench-neurons: $(VENV)/.neurons ## the top units of small networks next to other ways to find them
	$(BENCH) neurons

TABLES ?= tables
tables: $(VENV)/.bench ## the complete tables of diabetes and wine, made on all cores, kept in TABLES=dir
	$(BENCH) global-games --out $(TABLES)

selection: $(VENV)/.bench ## TopKSelector next to SelectKBest and RFE on real data, from OpenML or TOPSHAP_DATASETS=dir
	$(BENCH) selection

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) $(RIVALS_VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis screenshots site .coverage .coverage.* coverage.xml chaos-failures.txt

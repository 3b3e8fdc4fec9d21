# Two commands do everything on a bare machine: `make demo` installs the package alone,
# `make test` also PyTorch, matplotlib and the tools.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test types behaviour page pictures fuzz bench clean

demo: .venv/user
	@$(BIN)/python -m tapeformer.cli.demo

test: .venv/dev
	$(BIN)/ruff check src tests
	$(BIN)/ruff format --check src tests
	@$(MAKE) --no-print-directory --jobs 2 types behaviour

# mypy uses one core for two minutes when nothing is known yet: the tests start meanwhile.
types: .venv/dev
	$(BIN)/mypy

behaviour: .venv/dev
	$(BIN)/pytest -n 2 --dist worksteal

# The types of the explorer's page, written as comments; needs npm, nobody else does.
page:
	npx --yes --package typescript@5.9 tsc -p src/tapeformer/explorer/page/jsconfig.json

# The pictures of the explorer in docs/; needs Chromium.
pictures: .venv/dev
	$(BIN)/python -m tapeformer.explorer.gallery_pictures docs/explorer

fuzz: .venv/dev
	$(BIN)/python -m tests.fuzz.campaign --files 10000

bench: .venv/dev
	$(BIN)/python -m tests.bench.simulators

.venv/user: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable .
	@touch $@

.venv/dev: .venv/user
	$(BIN)/pip install --quiet --editable '.[dev]'
	@touch $@

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

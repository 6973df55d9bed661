#!/usr/bin/env bash
# action-setup.sh: makes the environment of one use of the action, apart from whatever the job works
# with, and gives its folder as the step's output `environment`.
# Any Python that a step of the user put first on the PATH may be too old, or be the one that is
# measured; so each candidate is run, and nothing is ever installed into any of them.
# Every use makes an environment of its own: what an earlier use made, its benchmarks may have changed.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# What a job may have set for its own Python and pip must not lead ours astray. Where packages
# come from stays as the runner has it (PIP_INDEX_URL and the like): the hashes decide what they are.
unset PYTHONHOME PYTHONPATH PYTHONSTARTUP PYTHONUSERBASE VIRTUAL_ENV __PYVENV_LAUNCHER__ || true
unset PIP_TARGET PIP_PREFIX PIP_ROOT PIP_USER PIP_REQUIRE_VIRTUALENV PIP_NO_DEPS PIP_CONSTRAINT || true
unset PIP_NO_BINARY PIP_REQUIREMENT PIP_DRY_RUN PIP_IGNORE_INSTALLED PIP_PYTHON PIP_NO_USER || true

usable() {
  "$1" -I -c '
import ensurepip, sys, sysconfig, venv
sys.exit(not (3, 11) <= sys.version_info[:2] or bool(sysconfig.get_config_var("Py_GIL_DISABLED")))
' </dev/null >/dev/null 2>&1
}

# Whether this user can neither change the program nor put another one in its place.
out_of_reach() {
  local path
  for path in "$1" "$(dirname "$1")"; do
    if [ -w "$path" ] || [ -O "$path" ]; then
      return 1
    fi
  done
}

any() { true; }

# The newest may lack wheels, so it comes last.
candidates() {
  local version
  for version in 3.13 3.12 3.11 3.14; do
    compgen -G "${RUNNER_TOOL_CACHE:-/nowhere}/Python/$version.*/*/bin/python3" || true
    type -ap "python$version" || true
  done
  type -ap python3 || true
  printf '%s\n' /usr/bin/python3 /usr/local/bin/python3 /opt/homebrew/bin/python3
}

case $(uname -s) in
Linux | Darwin) ;;
*)
  echo "::error title=benchgate::benchgate runs on Linux and macOS runners, not on $(uname -s)"
  exit 2
  ;;
esac

# first TEST: the first usable candidate that passes.
first() {
  local candidate
  while read -r candidate; do
    if "$1" "$candidate" && usable "$candidate"; then
      printf '%s\n' "$candidate"
      return
    fi
  done < <(candidates)
  return 1
}

if ! python=$(first out_of_reach || first any); then
  echo "::error title=benchgate::no Python 3.11 or newer with venv was found on this runner; add actions/setup-python before this step"
  exit 2
fi

folder=$(mktemp -d "$RUNNER_TEMP/benchgate-environment.XXXXXXXXXX")
venv=$folder/venv
"$python" -I -m venv "$venv"
# With a file named here, pip leaves out the user's own, which an earlier step may have written and
# which can have pip run another interpreter. The machine's own in /etc counts.
: >"$folder/pip.conf"
PIP_CONFIG_FILE=$folder/pip.conf "$venv/bin/python" -I -m pip install \
  --quiet --disable-pip-version-check --no-input \
  --no-compile --only-binary :all: --require-hashes --requirement "$root/requirements/action.txt"
# Copied, not built: a build needs tools that are not locked.
site=$("$venv/bin/python" -I -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
cp -R "$root/src/benchgate" "$site/"
"$venv/bin/python" -I -m benchgate --version
echo "environment=$venv" >>"$GITHUB_OUTPUT"

#!/usr/bin/env bash
# action-setup.sh: makes the environment of one use of the action, apart from whatever the job works
# with, and gives its folder as the step's output `environment`.
# Any Python that a step of the user put first on the PATH may be too old, or be the one that is
# measured; so each candidate is run, and nothing is ever installed into any of them.
# Every use makes an environment of its own: what an earlier use made, its benchmarks may have changed.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# What a job may have set for its own Python, pip and uv must not lead ours astray. Where packages come
# from stays as the runner has it (PIP_INDEX_URL and the like): the hashes decide what they are.
for name in ${!PYTHON@} ${!PIP_@} ${!UV_@} VIRTUAL_ENV __PYVENV_LAUNCHER__; do
  case $name in
  PIP_INDEX_URL | PIP_EXTRA_INDEX_URL | PIP_FIND_LINKS | PIP_NO_INDEX | PIP_TRUSTED_HOST) ;;
  PIP_CERT | PIP_CLIENT_CERT | PIP_PROXY | PIP_TIMEOUT | PIP_DEFAULT_TIMEOUT | PIP_KEYRING_PROVIDER) ;;
  *) unset "$name" ;;
  esac
done

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

error() { echo "::error title=benchgate::$1"; }

# fetched TOOL LOCK ARGUMENT...: runs a tool that installs what a lock in requirements/ names.
fetched() {
  local tool=$1 lock=$2 said="$folder/said"
  shift 2
  if "$@" --requirement "$sources" --requirement "$root/requirements/$lock" 2>"$said"; then
    cat "$said" >&2
    return
  fi
  cat "$said" >&2
  case $(tr '[:upper:]' '[:lower:]' <"$said") in
  *'no space left'* | *'quota exceeded'*)
    error "benchgate was not installed: the disk of this runner is full; free some space before this step"
    ;;
  *hash*match* | *match*hash*)
    error "benchgate was not installed: the package index has other files than those whose hashes are in requirements/$lock; make the index give the files of PyPI, or use another one with PIP_INDEX_URL"
    ;;
  *)
    error "benchgate was not installed: $tool did not get the packages of requirements/$lock, because the package index is down, cannot be reached from this runner, or lacks one; what $tool said is in the log of this step. Run the job again; if it fails again, check the index (PIP_INDEX_URL, pip.conf), the proxy and the certificates of this runner"
    ;;
  esac
  exit 1
}

case $(uname -s) in
Linux | Darwin) ;;
*)
  error "benchgate runs on Linux and macOS runners, not on $(uname -s)"
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
  error "no Python 3.11 or newer with venv was found on this runner; add actions/setup-python before this step, or install it in the container of the job (python3-venv on Debian, python3 on Alpine)"
  exit 2
fi

trap 'error "benchgate was not installed: line $LINENO of action-setup.sh failed; its words are in the log of this step"' ERR
folder=$(mktemp -d "$RUNNER_TEMP/benchgate-environment.XXXXXXXXXX")
venv=$folder/venv
"$python" -I -m venv --without-pip "$venv"
installer=$python
if ! "$python" -I -c 'import pip' </dev/null >/dev/null 2>&1; then
  "$python" -I -m venv "$folder/pip"
  installer=$folder/pip/bin/python
fi
sources=$folder/sources.txt
variables=$("$python" -I "$root/scripts/package-sources.py" "$sources")
unset ${!PIP_@}
while IFS='=' read -r name value; do
  if [ -n "$name" ]; then export "$name=$value"; fi
done <<<"$variables"
# pip reads no file at all: the user's own, which an earlier step may have written, can have it run
# another interpreter. uv installs the rest in a fifth of the time that pip takes.
PIP_CONFIG_FILE=/dev/null fetched pip installer.txt "$installer" -I -m pip install \
  --quiet --disable-pip-version-check --no-input --root-user-action ignore \
  --no-compile --no-deps --only-binary :all: --require-hashes --target "$folder/uv"
# As pip does: certificates of the machine, if it has any, and the best of all sources.
if compgen -G '/etc/ssl/certs/*' >/dev/null || compgen -G '/etc/pki/tls/certs/*' >/dev/null; then
  export UV_SYSTEM_CERTS=true
fi
fetched uv action.txt "$folder/uv/bin/uv" pip install \
  --quiet --no-config --python "$venv/bin/python" --cache-dir "$folder/cache" \
  --index-strategy unsafe-best-match --no-build --require-hashes
rm -rf "$folder/uv" "$folder/cache" "$folder/pip" "$folder/said"
# Copied, not built: a build needs tools that are not locked.
site=$("$venv/bin/python" -I -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
cp -R "$root/src/benchgate" "$site/"
"$venv/bin/python" -I -m benchgate --version
echo "environment=$venv" >>"$GITHUB_OUTPUT"

#!/usr/bin/env bash
# create-venv.sh DIR [PYTHON]: a fresh virtual environment, from PYTHON or the first that is new enough.
# Each candidate is run, because a name on the PATH may be a version manager's stand-in for nothing.
set -euo pipefail

usable() {
  "$1" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

directory=$1
candidates=("${2:-python3.13}")
if [ $# -lt 2 ]; then
  candidates+=(python3.12 python3.11 python3 python)
fi

for python in "${candidates[@]}"; do
  if usable "$python"; then
    echo "Setting up $directory with $("$python" --version); this is done once."
    exec "$python" -m venv --clear "$directory"
  fi
done

echo "No Python 3.11 or newer with venv and pip works here; tried: ${candidates[*]}." >&2
echo "Install one (Debian, Ubuntu: python3 and python3-venv) or name it: make PYTHON=/path/to/python3" >&2
exit 1

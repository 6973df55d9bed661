#!/usr/bin/env bash
# try-wheel.sh WHEEL [PYTHON]: installs a wheel in a fresh environment, as a user does, and runs the
# demo with it.
set -euo pipefail
unset PYTHONPATH

wheel=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
demo=$(cd "$(dirname "$0")" && pwd)/demo.sh

"${2:-python3}" -m venv "$scratch/venv"
"$scratch/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel"
export PATH="$scratch/venv/bin:$PATH"
cd "$scratch"
said=$(benchgate --version)
echo "$said, $(python --version)"
version=$(basename "$wheel" | cut -d - -f 2)
case $said in
*" $version") ;;
*)
  echo "The wheel is of version $version." >&2
  exit 1
  ;;
esac
"$demo"

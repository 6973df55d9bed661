#!/usr/bin/env bash
# Shows `benchgate check` on a scratch repository made from examples/quickstart: once with a change
# that makes one function slower and one faster, once without it. Fails if a verdict is not the expected one.
set -euo pipefail

quickstart=$(cd "$(dirname "$0")/../examples/quickstart" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

check() { # check EXPECTED_EXIT_CODE [OPTION]...
  local expected=$1 exit_code=0
  shift
  printf '\n$ %s\n' "benchgate check${*:+ $*}"
  benchgate check "$@" || exit_code=$?
  printf '\nexit code %d\n' "$exit_code"
  if [ "$exit_code" -ne "$expected" ]; then
    echo "demo: expected exit code $expected" >&2
    exit 1
  fi
}

cp -R "$quickstart" "$scratch/textkit"
cd "$scratch/textkit"
git init --quiet --initial-branch=main
git add .
git -c user.name=demo -c user.email=demo@example.com -c commit.gpgsign=false \
  commit --quiet --message="Start textkit"

echo "1. A change that reads every line of a log once more, and counts words in another way:"
printf '\n$ git apply --stat --apply change.patch\n'
git apply --stat --apply change.patch
check 3

printf '\n2. The same project without the change:\n'
printf '\n$ git checkout src\n'
git checkout --quiet src
check 0 --against HEAD

printf '\nThe slowdown was found (exit code 3), and nothing was found where nothing changed (0).\n'

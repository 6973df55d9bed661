#!/usr/bin/env bash
# Installs what slow tests run and PyPI and npm do not have, from the packages of Debian or Ubuntu:
# benchmark tools, databases and a browser. What is missing later is skipped by the tests.
set -euo pipefail

packages=(
  apache2-utils            # ab
  catch2 cmake g++
  curl
  git-lfs
  golang-go
  hyperfine
  libbenchmark-dev         # Google Benchmark
  librust-criterion-dev    # the crates of Criterion.rs
  mariadb-server
  postgresql               # pgbench, too
  ruby ruby-benchmark-ips
  strace                   # lets system calls fail
  valgrind
  wrk
)
# Any of these will do. Ubuntu's Chromium is a snap that does not see /tmp, but GitHub's runners with
# Ubuntu have Google Chrome.
if ! command -v google-chrome chromium chromium-browser >/dev/null; then
  if grep -qx ID=ubuntu /etc/os-release; then
    echo "no browser was found: install Google Chrome for tests/browser" >&2
  else
    packages+=(chromium)
  fi
fi

if ! command -v apt-get >/dev/null; then
  echo "apt-get was not found: install these yourself: ${packages[*]}" >&2
  exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -qq -y --no-install-recommends "${packages[@]}" >/dev/null

#!/usr/bin/env bash
# Take the pictures of docs/pictures again in a container whose Chromium and fonts are those of one day of Debian, whatever
# machine this is; say first which of them show other words or numbers than their page does. Needs docker and the network.
set -euo pipefail
cd "$(dirname "$0")/../.."
DAY=20261120T000000Z
docker run --rm --volume "$PWD:/work" --workdir /work debian:trixie-slim bash -euc "
  rm -f /etc/apt/sources.list.d/*
  echo 'deb [check-valid-until=no] http://snapshot.debian.org/archive/debian/$DAY trixie main' > /etc/apt/sources.list
  # The image may be of a later day: what it brings becomes that day's, too.
  printf 'Package: *\nPin: origin snapshot.debian.org\nPin-Priority: 1001\n' > /etc/apt/preferences
  apt-get -qq update
  apt-get -qq dist-upgrade --yes --allow-downgrades > /dev/null
  apt-get -qq install --yes --no-install-recommends ca-certificates chromium chromium-driver clang fonts-dejavu-core lld \
    python3-venv python3-dev gcc libc6-dev > /dev/null
  dpkg-query --show chromium fonts-dejavu-core
  python3 -m venv /venv
  /venv/bin/pip install --quiet --editable '.[png,numpy,prove]' 'selenium>=4.27'
  /venv/bin/python tools release screenshots --check --allow-download || echo '::warning::pictures show other words than their pages'
  /venv/bin/python tools release screenshots --allow-download
  PATH=/venv/bin:\$PATH /venv/bin/python tools release terminal
"
git status --short docs/pictures

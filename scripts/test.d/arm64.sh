#!/bin/sh
# arm64: builds dpt for ARM64 into build-arm64/; `arm64.sh luajit` runs that architecture's LuaJIT.
#
# Invariant: Debian's packages for ARM64 and their dependencies are unpacked into build-arm64/root;
# nothing is installed, and the system's package lists are unchanged.
set -eu
cd "$(dirname "$0")/../.."
root=$PWD/build-arm64/root

if [ "${1-}" = luajit ]; then
  shift
  exec qemu-aarch64-static -L "$root" "$root/usr/bin/luajit" "$@"
fi

packages='libc6-dev libgcc-12-dev libdnnl-dev libsleef-dev libluajit-5.1-dev luajit
libopenblas0-pthread libgomp1 libjpeg62-turbo-dev libpng-dev'
if [ ! -x "$root/usr/bin/luajit" ]; then
  state=$PWD/build-arm64/apt
  mkdir -p "$root" "$state/lists/partial" "$state/archives/partial"
  : >"$state/status"
  apt() {
    apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$state" \
      -o Dir::State::status="$state/status" -o Dir::Cache="$state" -o APT::Sandbox::User= "$@"
  }
  apt update
  # shellcheck disable=SC2086
  apt install --download-only --no-install-recommends -y $packages
  for file in "$state"/archives/*.deb; do dpkg-deb -x "$file" "$root"; done
fi
scripts/build build-arm64 -DCMAKE_TOOLCHAIN_FILE="$PWD/scripts/cmake/arm64.cmake" -DDPT_CUDA=OFF \
  -DDPT_WERROR=ON

#!/usr/bin/env bash
# A lock whose whole state is a function makes the function grow with each access (Sources/Instrument/Support/Lock.swift).
set -euo pipefail
cd "$(dirname "$0")/.."
found=$(grep -rnE '(Lock|Mutex)<\(+(@[A-Za-z]+ )*\(.*->|(Lock|Mutex)<\(*(@[A-Za-z]+ )+\(' --include='*.swift' Sources Tests Examples Benchmarks/Sources | grep -v '/.build' || true)
if [ -n "$found" ]; then
    echo "$found"
    echo "A function is the whole state of a lock: make it a property of a structure (Sources/Instrument/Support/Lock.swift says why)."
    exit 1
fi

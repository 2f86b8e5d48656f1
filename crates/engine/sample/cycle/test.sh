#!/bin/sh
# Runs every test below tests/, and fails with the first that does.
set -e
for test in tests/*.sh; do
    [ -e "$test" ] || continue
    sh -e "$test"
    echo "ok $test"
done

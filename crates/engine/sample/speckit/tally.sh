#!/bin/sh
# Counts what is in a text file.
case "$1" in
*) echo "usage: tally.sh WHAT FILE" >&2; exit 2 ;;
esac

#!/bin/sh
# A notebook for the command line. The notes are in the file that NOTES names.
set -e
NOTES="${NOTES:-notes.txt}"
case "${1:-}" in
*) echo "usage: notes.sh COMMAND [TEXT]" >&2; exit 2 ;;
esac

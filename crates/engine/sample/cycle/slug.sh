#!/bin/sh
# Prints a title as the end of a web address.
printf '%s\n' "$1"

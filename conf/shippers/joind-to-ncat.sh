#!/bin/sh
# ncat prints joind's results, from now on:   joind-to-ncat.sh > results.csv
# (Debian's package ncat.) joind's side: lines.ini ([output] listen).
# Yours to change: 127.0.0.1 9000
exec ncat --recv-only "$@" 127.0.0.1 9000

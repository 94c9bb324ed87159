#!/bin/sh
# socat prints joind's results, from now on:   joind-to-socat.sh > results.csv
# (Debian's package socat.) joind's side: lines.ini ([output] listen).
# Yours to change: 127.0.0.1 9000
#
# With [output] listen = unix:/run/joind/results.sock:   socat -u
# UNIX-CONNECT:/run/joind/results.sock -
exec socat -u "$@" TCP:127.0.0.1:9000 STDOUT

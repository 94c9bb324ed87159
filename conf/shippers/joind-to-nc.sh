#!/bin/sh
# nc prints joind's results, from now on:   joind-to-nc.sh > results.csv
# (nc of OpenBSD; Debian's package netcat-openbsd.) joind's side: lines.ini ([output] listen).
# Yours to change: 127.0.0.1 9000
#
# -d: it never reads its standard input, so that it can run in the background and from cron. (nc -N
# 127.0.0.1 9000 < /dev/null does as well: joind goes on sending to a subscriber that has said that
# it will send nothing.)
exec nc -d "$@" 127.0.0.1 9000

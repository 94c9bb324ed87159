#!/bin/sh
# ncat sends to joind what comes on its standard input:   ncat-to-joind.sh < orders.csv
# (Debian's package ncat.) joind's side: lines.ini.
# Yours to change: 127.0.0.1 8000
#
# --send-only: it closes when its input has ended. Without it, ncat ends its sending side only and
# waits for joind to close, which joind does when it has read everything; either is fine.
exec ncat --send-only "$@" 127.0.0.1 8000

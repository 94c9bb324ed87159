#!/bin/sh
# logger sends to joind, each line of its standard input in an envelope of syslog:
#     logger-to-joind.sh < orders.csv         logger-to-joind.sh -- o-17,4211,12.50
# (util-linux; on every Debian.) joind's side: syslog.ini (framing = auto, envelope = syslog).
# Yours to change: 127.0.0.1 8000
#
# It writes lines:
#     <13>1 2026-01-09T09:12:40.217306+01:00 web1 shop - - [...] o-17,4211,12.50
# With --rfc3164, shorter ones:
#     <13>Jan  9 09:12:40 web1 shop: o-17,4211,12.50
# With --octet-count each has its length in front, and no line end. framing = auto takes them all.
# TRAP: without --tcp it sends datagrams, and to the port 514.
# TRAP: without --tag the program is the user's name; without --size a message is cut after 1 KiB.
# TRAP: each call is a connection of its own: for many lines, give them to one call.
exec logger --server 127.0.0.1 --port 8000 --tcp --tag shop --size 64KiB "$@"

#!/bin/sh
# socat sends to joind what comes on its standard input:   socat-to-joind.sh < orders.csv
# (Debian's package socat.) joind's side: lines.ini.
# Yours to change: 127.0.0.1 8000
#
# -u: one way. TRAP: without it, socat gives up half a second after its input has ended, whether
# joind has read everything or not. With [left] listen = unix:/run/joind/orders.sock:   socat -u -
# UNIX-CONNECT:/run/joind/orders.sock
exec socat -u "$@" STDIN TCP:127.0.0.1:8000

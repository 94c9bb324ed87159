#!/bin/sh
# nc sends to joind what comes on its standard input:   nc-to-joind.sh < orders.csv
# (nc of OpenBSD; Debian's package netcat-openbsd.) joind's side: lines.ini.
# Yours to change: 127.0.0.1 8000
#
# TRAP: without -N nc says nothing at the end of its input and stays connected, so a last line that
# lacks its line end is not read before joind is stopped. -N ends the stream; nc itself ends when
# joind has read all of it and closed: so status 0 says that everything arrived.
# TRAP: a side without -N in a batch join never ends.
# For lines that are not ended by LF but by CR LF there is -C; joind takes both.
exec nc -N "$@" 127.0.0.1 8000

#!/bin/sh
# telnet, to watch joind's results: joind-to-telnet.sh. The end: Ctrl-], then quit.
# (Debian's package telnet, or inetutils-telnet.) joind's side: lines.ini ([output] listen).
# Yours to change: 127.0.0.1 9000
exec telnet 127.0.0.1 9000

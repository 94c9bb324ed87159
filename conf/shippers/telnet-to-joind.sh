#!/bin/sh
# telnet, to type lines by hand: telnet-to-joind.sh. The end: Ctrl-], then quit.
# (Debian's package telnet, or inetutils-telnet.) joind's side: lines.ini.
# Yours to change: 127.0.0.1 8000
#
# Lines end in CR LF; joind takes the CR off.
# TRAP: Ctrl-C does not end telnet, it puts five bytes of its protocol (FF F4 FF FD 06) into the
# line that is being typed. That line is rejected, reason telnet; the next one is fine.
# TRAP: it is no tool for scripts: with a pipe for standard input it may end before it has sent
# everything.
exec telnet 127.0.0.1 8000

#!/bin/sh
# Over TCP: while the data is first made, the server listens on its socket only.
exec mariadb-admin ping -h 127.0.0.1

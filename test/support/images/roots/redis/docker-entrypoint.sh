#!/bin/sh
# As the official image does: root gives the data to the server's own user, whom it then becomes.
set -eu
if [ "$1" = redis-server ] && [ "$(id -u)" = 0 ]; then
  chown -R redis:redis .
  exec setpriv --reuid=redis --regid=redis --init-groups "$@"
fi
exec "$@"

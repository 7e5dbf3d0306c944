#!/bin/sh
# As the official image does: root gives the data to the server's own user, whom it then becomes.
set -eu
mkdir -p /data
cd /data
chown valkey:valkey .
exec setpriv --reuid=valkey --regid=valkey --init-groups "$@"

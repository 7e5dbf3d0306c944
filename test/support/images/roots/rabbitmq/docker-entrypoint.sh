#!/bin/sh
# As the official image does: writes the settings from the environment, then serves as its own user.
set -eu
data=/var/lib/rabbitmq
mkdir -p "$data" /etc/rabbitmq /var/log/rabbitmq
echo '[rabbitmq_management].' > /etc/rabbitmq/enabled_plugins
cat > /etc/rabbitmq/rabbitmq.conf <<END
loopback_users = none
default_user = $RABBITMQ_DEFAULT_USER
default_pass = $RABBITMQ_DEFAULT_PASS
END
chown -R rabbitmq:rabbitmq "$data" /etc/rabbitmq /var/log/rabbitmq
exec setpriv --reuid=rabbitmq --regid=rabbitmq --init-groups "$@"

#!/bin/sh
# As the official image does: makes the data at the first start, then serves as its own user.
set -eu
data=/var/lib/mysql
as_mysql() { setpriv --reuid=mysql --regid=mysql --init-groups "$@"; }

mkdir -p "$data" /run/mysqld
chown -R mysql:mysql "$data" /run/mysqld

if [ ! -d "$data/mysql" ]; then
  as_mysql mariadb-install-db --datadir="$data" --auth-root-authentication-method=normal --skip-test-db
  as_mysql mariadbd --datadir="$data" --skip-networking &
  until mariadb-admin ping > /dev/null 2>&1; do sleep 0.1; done
  mariadb <<END
CREATE DATABASE \`$MARIADB_DATABASE\`;
CREATE USER '$MARIADB_USER'@'%' IDENTIFIED BY '$MARIADB_PASSWORD';
GRANT ALL ON \`$MARIADB_DATABASE\`.* TO '$MARIADB_USER'@'%';
ALTER USER 'root'@'localhost' IDENTIFIED BY '$MARIADB_ROOT_PASSWORD';
END
  MYSQL_PWD=$MARIADB_ROOT_PASSWORD mariadb-admin shutdown
  wait
fi
exec setpriv --reuid=mysql --regid=mysql --init-groups "$@" --datadir="$data"

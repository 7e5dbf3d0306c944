#!/bin/sh
# As the official image does: makes the data at the first start, then serves as its own user.
set -eu
data=/var/lib/mysql
as_mysql() { setpriv --reuid=mysql --regid=mysql --init-groups "$@"; }

mkdir -p "$data" /run/mysqld /var/lib/mysql-files
chown -R mysql:mysql "$data" /run/mysqld /var/lib/mysql-files

if [ ! -d "$data/mysql" ]; then
  as_mysql mysqld --no-defaults --initialize-insecure --datadir="$data"
  as_mysql mysqld --no-defaults --datadir="$data" --skip-networking --socket=/run/mysqld/first.sock --mysqlx=OFF &
  first="-uroot -S /run/mysqld/first.sock"
  until mysqladmin $first ping > /dev/null 2>&1; do sleep 0.1; done
  mysql $first <<END
CREATE DATABASE \`$MYSQL_DATABASE\`;
CREATE USER '$MYSQL_USER'@'%' IDENTIFIED BY '$MYSQL_PASSWORD';
GRANT ALL ON \`$MYSQL_DATABASE\`.* TO '$MYSQL_USER'@'%';
CREATE USER 'root'@'%' IDENTIFIED BY '$MYSQL_ROOT_PASSWORD';
GRANT ALL ON *.* TO 'root'@'%' WITH GRANT OPTION;
ALTER USER 'root'@'localhost' IDENTIFIED BY '$MYSQL_ROOT_PASSWORD';
END
  MYSQL_PWD=$MYSQL_ROOT_PASSWORD mysqladmin $first shutdown
  wait
fi
exec setpriv --reuid=mysql --regid=mysql --init-groups mysqld --no-defaults --datadir="$data" --socket=/run/mysqld/mysqld.sock --mysqlx=OFF

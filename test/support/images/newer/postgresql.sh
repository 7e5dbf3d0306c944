#!/bin/sh
# As the official image does: makes the data at the first start, then serves as its own user.
set -eu
data=/var/lib/postgresql/data
as_postgres() { setpriv --reuid=postgres --regid=postgres --init-groups "$@"; }

mkdir -p "$data" /run/postgresql
chown -R postgres:postgres "$data" /run/postgresql
chmod 700 "$data"

if [ ! -s "$data/PG_VERSION" ]; then
  secret=$(mktemp)
  printf '%s\n' "$POSTGRES_PASSWORD" > "$secret"
  chown postgres "$secret"
  as_postgres initdb -D "$data" -U "$POSTGRES_USER" --pwfile="$secret" --auth-host=scram-sha-256
  rm "$secret"
  echo 'host all all all scram-sha-256' >> "$data/pg_hba.conf"
  echo "listen_addresses = '*'" >> "$data/postgresql.conf"
  as_postgres pg_ctl -D "$data" -w -o "-c listen_addresses=''" start
  as_postgres createdb -U "$POSTGRES_USER" --maintenance-db=postgres "$POSTGRES_DB"
  as_postgres pg_ctl -D "$data" -w -m fast stop
fi
exec setpriv --reuid=postgres --regid=postgres --init-groups "$@" -D "$data"

import type { Engine } from './engine.ts'

/** Of MySQL or MariaDB: newer images of MariaDB have only its own names. */
const tools = `
client=$(command -v mariadb || command -v mysql) dump=$(command -v mariadb-dump || command -v mysqldump)
set -- --protocol=tcp -h127.0.0.1 -P"$DAVIT_PORT" -uroot --default-character-set=utf8mb4 --max-allowed-packet=1G`

const own = `('mysql', 'information_schema', 'performance_schema', 'sys')`

/** Prints the folders of its files, the version, all databases and all users. */
const server = `${tools}
"$client" "$@" -NBr -e "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('datadir', 'innodb_data_home_dir', 'innodb_directories',
  'innodb_log_group_home_dir', 'innodb_undo_directory', 'log_bin_basename', 'relay_log_basename')" |
  cut -f 2 | tr ';' '\\n' | sed -n 's|^/[A-Za-z0-9_./ -]*$|{"folder":"&"}|p'
"$client" "$@" -NBr <<'END'
SELECT JSON_OBJECT('version', VERSION());
SELECT JSON_OBJECT('database', schema_name) FROM information_schema.schemata
  WHERE schema_name NOT IN ${own} ORDER BY schema_name;
SELECT JSON_OBJECT('role', CONCAT(QUOTE(User), '@', QUOTE(Host))) FROM mysql.user
  WHERE User NOT IN ('', 'root', 'mariadb.sys') AND User NOT LIKE 'mysql.%' AND Host <> '' ORDER BY User, Host;
END`

/** Statements that count the rows of each table; the name of the database comes in hexadecimal digits. */
const counting = String.raw`SELECT CONCAT('SELECT JSON_ARRAY(', QUOTE(table_name), ', COUNT(*)) FROM ',
  '\`', REPLACE(table_schema, '\`', '\`\`'), '\`.\`', REPLACE(table_name, '\`', '\`\`'), '\`;')
  FROM information_schema.tables WHERE table_schema = CONVERT(X'$DAVIT_HEX' USING utf8mb4)
  AND table_type IN ('BASE TABLE', 'SYSTEM VERSIONED') ORDER BY table_name;`

/**
 * A session that stays open while the shell asks: \`begin\` gives it a statement and a snapshot, \`lines\` prints
 * its response.
 */
const session = `${tools}
cd "$(mktemp -d)" && mkfifo in out started gate || exit
begin() {
  "$client" "$@" -NBrn < in > out 2> errors &
  exec 3> in 4< out
  printf '%s\\n' "$first START TRANSACTION WITH CONSISTENT SNAPSHOT; SELECT 'begun';" >&3
  read -r line <&4
}
lines() {
  while read -r line <&4 && [ "$line" != end ]; do printf '%s\\n' "$line"; done
  [ "$line" = end ] || { cat errors >&2; exit 1; }
}
count() {
  printf '%s\\n' "${counting} SELECT 'end';" >&3
  lines > statements
  { cat statements; echo "SELECT 'end';"; } >&3 &
  lines
}`

const countOne = `${session}
first= && begin "$@" || { cat errors >&2; exit 1; }
count`

const query = `${tools}
"$client" "$@" -NBr -e "$DAVIT_QUERY" -- "$DAVIT_DATABASE"`

/**
 * Two snapshots are the same when nothing is written between them: the session that counts holds a lock until
 * the dump writes its first bytes, which it does after its own snapshot has begun. They wait at the gate until
 * the counts are printed. When a long change keeps the lock from being had, it counts without one.
 */
const dumpOne = `${session}
first="SET SESSION lock_wait_timeout = 5; FLUSH TABLES WITH READ LOCK;" exact=true
begin "$@" || { exec 3>&- 4<&-; first= exact=false && begin "$@"; } || { cat errors >&2; exit 1; }
has() { "$dump" --help 2> /dev/null | grep -q -- "$1"; }
has set-gtid-purged && set -- "$@" --set-gtid-purged=OFF
has init-command && set -- "$@" --init-command="SET SESSION lock_wait_timeout = $(((DAVIT_LOCK_MS + 999) / 1000))"
{ "$dump" "$@" --single-transaction --quick --routines --triggers --events --hex-blob --skip-dump-date \\
  --add-drop-database --databases -- "$DAVIT_DATABASE" 2> dump-errors && : > whole; } | {
  dd bs=1 count=1 of=byte 2> /dev/null; echo > started; read -r _ < gate; cat byte -; } &
dumping=$!
read -r _ < started
echo "UNLOCK TABLES;" >&3
printf '{"exact":%s}\\n' $exact > counts
count >> counts
cat counts; echo; echo > gate
wait $dumping
[ -e whole ] || { cat dump-errors >&2; exit 1; }`

/** Rights without the passwords: one of a user that exists when it is loaded isn't changed. */
const dumpUsers = `${tools}
cd "$(mktemp -d)" || exit
"$client" "$@" -NBr > statements <<'END' || exit
SELECT CONCAT('SHOW CREATE USER ', QUOTE(User), '@', QUOTE(Host), ';') FROM mysql.user
  WHERE User NOT IN ('', 'root', 'mariadb.sys') AND User NOT LIKE 'mysql.%' AND Host <> '';
SELECT CONCAT('SHOW GRANTS FOR ', QUOTE(User), '@', QUOTE(Host), ';') FROM mysql.user
  WHERE User NOT IN ('', 'root', 'mariadb.sys') AND User NOT LIKE 'mysql.%' AND Host <> '';
END
# MySQL prints hashes that aren't text as such otherwise
"$client" "$@" -NBr -e 'SET SESSION print_identified_with_as_hex = ON' 2> /dev/null &&
  sed -i '1i SET SESSION print_identified_with_as_hex = ON;' statements
roles() { "$client" "$@" -NBr -e "SELECT CONCAT('$what', QUOTE(User), ';') FROM mysql.user WHERE is_role = 'Y'" 2> /dev/null; }
what='CREATE ROLE IF NOT EXISTS ' && roles "$@" || :
what='SHOW GRANTS FOR ' && roles "$@" >> statements || :
"$client" "$@" -NBr < statements > made || exit
sed -E "s/^CREATE USER /CREATE USER IF NOT EXISTS /
/^GRANT .* IDENTIFIED /{
/ WITH GRANT OPTION$/!s/ IDENTIFIED .*//
s/ IDENTIFIED .*/ WITH GRANT OPTION/
}
s/$/;/" made`

const loadOne = `${tools}
exec "$client" "$@"`

/** Rights outlive the tables, columns and routines that they are of; such can't be given again. */
const loadUsers = `${tools}
cd "$(mktemp -d)" || exit
"$client" "$@" --force 2> errors || :
! grep -E '^ERROR' errors | grep -vE '^ERROR (1146|1305|1054) ' >&2`

type Counted = ({ exact: boolean } | [table: string, rows: number])[]

export const mysql: Engine = {
  server,
  roles: { dump: dumpUsers, load: loadUsers, ending: 'sql', isLast: true },
  database: { dump: dumpOne, count: countOne, query, load: loadOne, erases: true },
  ending: 'sql',
  env: (database) => ({ DAVIT_HEX: Buffer.from(database?.name ?? '').toString('hex') }),
  toDatabase(lines) {
    const counted = lines as Counted
    const isInexact = counted.some((one) => 'exact' in one && !one.exact)
    const tables = counted.flatMap((one) => ('exact' in one ? [] : { name: one[0], rows: one[1] }))
    return { tables, ...(isInexact && { isInexact }) }
  },
}

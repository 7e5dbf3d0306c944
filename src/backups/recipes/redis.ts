import type { Engine } from './engine.ts'

/** Of Redis or Valkey. */
const tools = `
cli=$(command -v valkey-cli || command -v redis-cli)
server=$(command -v valkey-server || command -v redis-server)
check=$(command -v valkey-check-rdb || command -v redis-check-rdb)
[ -n "$REDISCLI_AUTH" ] || unset REDISCLI_AUTH
cd "$(mktemp -d)" || exit
ask() { "$cli" -h 127.0.0.1 -p "$DAVIT_PORT" --no-auth-warning "$@" | tr -d '\\r'; }
fail() { cat "$@" >&2; exit 1; }
# Its exit code is 0 when the server refuses.
info() { ask info "$1" > info; grep -q "^# " info || fail info; }`

const serverOf = `${tools}
info server
flavour=; grep -q ^valkey_version: info && flavour='Valkey '
version=$(sed -n 's/^valkey_version://p' info); [ -n "$version" ] || version=$(sed -n 's/^redis_version://p' info)
ask config get dir | sed -n '2s|^/[A-Za-z0-9_./ -]*$|{"folder":"&"}|p'
printf '{"version":"%s"}\\n{"database":"data"}\\n' "$flavour$version"`

/** A file in between: what is counted is what its own program reads there, checksum included. */
const dump = `${tools}
"$cli" -h 127.0.0.1 -p "$DAVIT_PORT" --no-auth-warning --rdb dump.rdb > log 2>&1 || fail log
"$check" dump.rdb > log 2>&1 || fail log
keys=$(sed -n 's/^\\[info\\] \\([0-9]*\\) keys read$/\\1/p' log)
expires=$(sed -n 's/^\\[info\\] \\([0-9]*\\) expires$/\\1/p' log)
printf '["keys",%s,%s]\\n\\n' "$keys" $((keys - expires))
cat dump.rdb`

const count = `${tools}
info keyspace
keys=0 expires=0
for line in $(grep ^db info); do
  line=\${line#*keys=}; keys=$((keys + \${line%%,*}))
  line=\${line#*expires=}; expires=$((expires + \${line%%,*}))
done
printf '["keys",%s,%s]\\n' $keys $((keys - expires))`

/**
 * A second server beside it loads the file. The first then copies from that one, as replicas do: it has its
 * old data until the new is there.
 */
const load = `${tools}
cat > dump.rdb && "$check" dump.rdb > log 2>&1 || fail log
beside() { env -u REDISCLI_AUTH "$cli" -h 127.0.0.1 -p $port "$@" 2>&1 | tr -d '\\r'; }
port=16379
while beside ping | grep -qvi refused; do port=$((port + 1)); done
info server
"$server" --port $port --bind 127.0.0.1 --dir "$PWD" --dbfilename dump.rdb --appendonly no --save '' \
  --repl-diskless-sync-delay 0 > log 2>&1 &
trap "kill $!" EXIT
until beside info persistence | grep -q ^loading:0; do kill -0 $! 2> /dev/null || fail log; sleep 0.1; done
ask replicaof 127.0.0.1 $port > answer; grep -qx OK answer || fail answer
# A minute without a connection means that none will come.
left=600
until info replication && grep -q ^master_link_status:up info; do
  grep -q ^master_sync_in_progress:1 info && left=600 || left=$((left - 1))
  [ $left -gt 0 ] || fail info
  sleep 0.1
done
ask replicaof no one > answer; grep -qx OK answer || fail answer`

/** Until an append-only file has what was loaded, a server that is stopped has its old data again. */
const settle = `${tools}
while info persistence && grep -Eq '^aof_rewrite_(in_progress|scheduled):1' info; do sleep 0.1; done`

/** Leaves no server that waits for one that is gone. */
const undo = `${tools}
info replication
grep -q ^master_host:127.0.0.1 info || exit 0
ask replicaof no one`

export const redis: Engine = {
  server: serverOf,
  roles: null,
  database: { dump, count, load, settle, undo },
  ending: 'rdb',
  toDatabase: (lines) => ({
    tables: (lines as [string, number, number][]).map(([name, rows, fewest]) => ({
      name,
      rows,
      fewest,
    })),
  }),
}

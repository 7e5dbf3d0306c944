import type { Engine } from './engine.ts'

/** The database that is loaded, and the one that it replaces, until they change places. */
const [loading, replaced] = ['davit_restoring', 'davit_replaced']

const psql = 'psql -XAtqw -v ON_ERROR_STOP=1'

/** No limit of the user or the database ends a long dump. */
const unlimited = `SELECT set_config(name, '0', false) FROM pg_settings WHERE name IN
  ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout') \\g /dev/null
\\set lock \`printf %s "$DAVIT_LOCK_MS"\`
SET lock_timeout = :lock;`

/** Bytes of an empty database and a little more. */
const small = 12 * 2 ** 20

/** Prints the version, all databases, all roles, and the folders of its data and of tablespaces. */
const cluster = `
PGDATABASE=$DAVIT_MAINTENANCE ${psql} <<'END'
${unlimited}
SELECT jsonb_build_object('version', split_part(current_setting('server_version'), ' ', 1));
SELECT jsonb_build_object('database', datname, 'isSmall',
  CASE WHEN has_database_privilege(oid, 'CONNECT') THEN pg_database_size(oid) < ${small} END) FROM pg_database
  WHERE datallowconn AND NOT datistemplate AND datname NOT IN ('${loading}', '${replaced}') ORDER BY datname;
SELECT jsonb_build_object('role', rolname) FROM pg_roles WHERE rolname !~ '^pg_' ORDER BY rolname;
SELECT jsonb_build_object('folder', folder) FROM (SELECT pg_tablespace_location(oid) AS folder FROM pg_tablespace
  UNION SELECT setting FROM pg_settings WHERE name = 'data_directory') f WHERE folder <> '';
END`

/** Tables that a dump has the rows of: not those of extensions, which fill their own. */
const tables = `FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind = 'r' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND NOT EXISTS (SELECT FROM pg_depend d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')`

/** Settings whose values are lists of names, which have their own quotes. */
const lists = `'search_path', 'temp_tablespaces', 'session_preload_libraries', 'local_preload_libraries'`

const setting = `format(' SET %I TO ', split_part(s, '=', 1)) ||
  CASE WHEN split_part(s, '=', 1) IN (${lists}) THEN substr(s, strpos(s, '=') + 1)
  ELSE quote_literal(substr(s, strpos(s, '=') + 1)) END`

const escaped = (sql: string) => `replace(${sql}, '%', '%%')`

/**
 * Prints the statements that create this database, its extensions, then the rows of each table. The catalogue
 * is read as JSON, since its columns differ from version to version.
 */
const contents = `
WITH d AS (SELECT oid, to_jsonb(d) AS j, pg_get_userbyid(datdba) AS owner, d.datacl
  FROM pg_database d WHERE datname = current_database()),
made (rank, sql) AS (
  SELECT 1, 'CREATE DATABASE %1$I' || ${escaped(`format(
    ' TEMPLATE template0 OWNER %I ENCODING %L LC_COLLATE %L LC_CTYPE %L', owner,
    pg_encoding_to_char((j->>'encoding')::int), j->>'datcollate', j->>'datctype')
    || CASE j->>'datlocprovider'
      WHEN 'i' THEN format(' LOCALE_PROVIDER icu ICU_LOCALE %L', coalesce(j->>'datlocale', j->>'daticulocale'))
      WHEN 'b' THEN format(' LOCALE_PROVIDER builtin BUILTIN_LOCALE %L', j->>'datlocale') ELSE '' END`)} FROM d
  UNION ALL SELECT 2, 'ALTER DATABASE %1$I CONNECTION LIMIT ' || (j->>'datconnlimit') FROM d
    WHERE (j->>'datconnlimit')::int >= 0
  UNION ALL SELECT 3, 'COMMENT ON DATABASE %1$I IS ' || ${escaped('quote_literal(text)')}
    FROM (SELECT shobj_description(oid, 'pg_database') AS text FROM d) t WHERE text IS NOT NULL
  UNION ALL SELECT 4, CASE setrole WHEN 0 THEN 'ALTER DATABASE %1$I' ELSE
    ${escaped(`format('ALTER ROLE %I IN DATABASE ', pg_get_userbyid(setrole))`)} || '%1$I' END || ${escaped(setting)}
    FROM d JOIN pg_db_role_setting ON setdatabase = oid, unnest(setconfig) s
  UNION ALL SELECT 5, 'REVOKE ALL ON DATABASE %1$I FROM PUBLIC' FROM d WHERE datacl IS NOT NULL
  UNION ALL SELECT 6, 'GRANT ' || privilege_type || ' ON DATABASE %1$I TO ' || CASE grantee WHEN 0 THEN 'PUBLIC'
    ELSE ${escaped('quote_ident(pg_get_userbyid(grantee))')} END
    || CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END
    FROM d, aclexplode(datacl) WHERE grantee <> (j->>'datdba')::oid)
SELECT jsonb_build_object(
  'create', (SELECT jsonb_agg(sql ORDER BY rank) FROM made),
  'extensions', (SELECT coalesce(jsonb_agg(extname ORDER BY extname), '[]') FROM pg_extension));
SELECT format('SELECT jsonb_build_array(%L, count(*)) FROM ONLY %I.%I',
  n.nspname || '.' || c.relname, n.nspname, c.relname) ${tables} ORDER BY n.nspname, c.relname \\gexec
SELECT jsonb_build_array('large objects', count(*)) FROM pg_largeobject_metadata HAVING count(*) > 0;`

const count = `PGDATABASE=$DAVIT_DATABASE ${psql} <<'END'
${unlimited}
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
${contents}
END`

const query = `PGDATABASE=$DAVIT_DATABASE ${psql} -c "$DAVIT_QUERY"`

/**
 * Counts and dumps in one snapshot. All tables are locked before they are counted, and pg_dump gets its own
 * locks at once: a change of a table that comes meanwhile waits for both, and not they for it. What pg_dump
 * writes waits behind the gate until the counts are printed.
 */
const dumpOne = `
cd "$(mktemp -d)" && mkfifo gate done && export PGDATABASE="$DAVIT_DATABASE" && ${psql} <<'END' &&
${unlimited}
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SELECT pg_export_snapshot() AS snapshot \\gset
\\setenv DAVIT_SNAPSHOT :snapshot
SELECT format('LOCK TABLE %I.%I IN ACCESS SHARE MODE', n.nspname, c.relname) ${tables} \\gexec
\\! ({ pg_dump -wFc -Z0 --lock-wait-timeout="$DAVIT_LOCK_MS" --snapshot="$DAVIT_SNAPSHOT" && : > whole; } | { read -r _ < gate; cat; }; : > done) &
\\o counts
${contents}
\\o
\\! cat counts; echo; echo > gate; read -r _ < done
END
[ -e whole ]`

const dumpRoles = `PGDATABASE=$DAVIT_MAINTENANCE pg_dumpall -w --roles-only`

/** Creates the roles that are missing. One that exists keeps its password and rights. */
const loadRoles = `
cd "$(mktemp -d)" && export PGDATABASE="$DAVIT_MAINTENANCE" &&
${psql} -c "SELECT quote_ident(rolname) FROM pg_roles" > existing &&
while IFS= read -r line; do
  name=
  case $line in
  "CREATE ROLE "*) name=\${line#CREATE ROLE } name=\${name%;} ;;
  "ALTER ROLE "*" WITH "*) name=\${line#ALTER ROLE } name=\${name%% WITH *} ;;
  esac
  [ -n "$name" ] && grep -qxF -- "$name" existing || printf '%s\\n' "$line"
done > roles.sql &&
${psql} -v VERBOSITY=terse -f roles.sql`

/** Those of a load that was ended go on with what they do, such as an index, and keep their database from being dropped. */
const endSessions = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname IN ('${loading}', '${replaced}') AND usename = current_user \\g /dev/null`

/**
 * Into a database beside, which then takes the other's place at once: until then nothing has changed. The
 * schema public is searched meanwhile, as when it was made: expressions of indexes may call its functions. Only
 * TimescaleDB has to be told of it.
 */
const loadOne = `
cd "$(mktemp -d)" && export PGDATABASE="$DAVIT_MAINTENANCE" || exit
# One without tablespaces, such as a new server, has all in its own folder.
tablespaces=$(${psql} -c "SELECT count(*) FROM pg_tablespace WHERE spcname !~ '^pg_'") || exit
[ "$tablespaces" = 0 ] && set -- --no-tablespaces || set --
timescale() { [ -z "$DAVIT_TIMESCALE" ] || PGDATABASE=${loading} ${psql} -o /dev/null -c "$1" -c "$2"; }
${psql} <<'END' &&
SET client_min_messages = error;
${endSessions}
DROP DATABASE IF EXISTS ${loading};
DROP DATABASE IF EXISTS ${replaced};
\\set create \`printf %s "$DAVIT_CREATE"\`
SELECT format(sql, '${loading}') FROM jsonb_array_elements_text(:'create'::jsonb) sql \\gexec
END
timescale "CREATE EXTENSION timescaledb" "SELECT timescaledb_pre_restore()" &&
{ pg_restore "$@" -f - && : > whole; } |
  sed "1,60s/^SELECT pg_catalog.set_config('search_path', '', false);/SET search_path = public;/" |
  PGDATABASE=${loading} ${psql} -o /dev/null && [ -e whole ] &&
timescale "SELECT timescaledb_post_restore()" "" &&
PGDATABASE=${loading} ${psql} -c 'ANALYZE' &&
${psql} <<'END'
SET client_min_messages = error;
\\set name \`printf %s "$DAVIT_DATABASE"\`
SELECT format('ALTER DATABASE %I ALLOW_CONNECTIONS false', datname) FROM pg_database
  WHERE datname = :'name' \\gexec
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname IN (:'name', '${loading}') AND pid <> pg_backend_pid() \\g /dev/null
BEGIN;
SELECT format('ALTER DATABASE %I RENAME TO ${replaced}', datname) FROM pg_database
  WHERE datname = :'name' \\gexec
SELECT format('ALTER DATABASE ${loading} RENAME TO %I', :'name') \\gexec
COMMIT;
DROP DATABASE IF EXISTS ${replaced};
END`

/** The old database is used again when the two couldn't change places, and removed when they could. */
const undoOne = `
PGDATABASE="$DAVIT_MAINTENANCE" ${psql} <<'END'
SET client_min_messages = error;
\\set name \`printf %s "$DAVIT_DATABASE"\`
SELECT format('ALTER DATABASE %I ALLOW_CONNECTIONS true', datname) FROM pg_database
  WHERE datname = :'name' AND NOT datallowconn \\gexec
${endSessions}
DROP DATABASE IF EXISTS ${loading};
DROP DATABASE IF EXISTS ${replaced};
END`

type Counted = [{ create: string[]; extensions: string[] }, ...[table: string, rows: number][]]

export const postgresql: Engine = {
  server: cluster,
  roles: { dump: dumpRoles, load: loadRoles, ending: 'sql' },
  database: { dump: dumpOne, count, query, load: loadOne, undo: undoOne },
  ending: 'dump',
  // every session is in some database, and none may be in one that is replaced
  env: (database) => ({
    DAVIT_MAINTENANCE: database?.name === 'postgres' ? 'template1' : 'postgres',
    DAVIT_CREATE: JSON.stringify(database?.create ?? []),
    DAVIT_TIMESCALE: database?.extensions?.find((name) => name === 'timescaledb') ?? '',
  }),
  toDatabase(lines) {
    const [{ create, extensions }, ...tables] = lines as Counted
    return { tables: tables.map(([name, rows]) => ({ name, rows })), extensions, create }
  },
}

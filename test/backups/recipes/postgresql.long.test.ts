import { expect, test } from 'bun:test'
import { differenceOf } from '../../../src/backups/recipes/contents.ts'
import { imageOf } from '../../support/images/recipes.ts'
import { ensureServiceImages } from '../../support/machine.ts'
import { dumped, inspected, loaded, scene } from './scene.ts'
import { shopOf } from './shop.ts'

await ensureServiceImages({ say: console.error })

const { deps, listTools, start } = scene()
const image = await imageOf('postgresql')

/** A server whose administrator is `user`, and what a session of SQL prints. */
async function server(user = 'shop') {
  const env = { POSTGRES_USER: user, POSTGRES_PASSWORD: `password-of-${user}`, POSTGRES_DB: 'app' }
  const target = await start(image, {
    env,
    ready: ['psql', '-h', '127.0.0.1', '-d', 'app', '-c', ''],
  })
  const sql = (text: string, database = 'app') =>
    target.run(['psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-c', text], { PGDATABASE: database })
  return { target, sql }
}

test('all databases, roles and rights are in a dump, and in another server when it is loaded', async () => {
  const from = await server()
  await from.sql(shopOf(2000))
  await from.sql(`
    CREATE EXTENSION hstore; CREATE EXTENSION pg_trgm;
    CREATE ROLE clerk LOGIN PASSWORD 'secret' CONNECTION LIMIT 5;
    CREATE ROLE "Odd; role" NOLOGIN; GRANT "Odd; role" TO clerk;
    GRANT SELECT ON orders TO clerk; ALTER TABLE products OWNER TO clerk;
    ALTER ROLE clerk SET search_path = shop, public;
    ALTER ROLE clerk IN DATABASE app SET work_mem = '8MB';
    ALTER DATABASE app SET search_path = "$user", public, shop;
    ALTER DATABASE app SET "my.text" = 'it''s 100 %1$I';
    COMMENT ON DATABASE app IS 'a ''shop'' of 100 %';
    REVOKE CONNECT ON DATABASE app FROM PUBLIC; GRANT CONNECT ON DATABASE app TO clerk;
    SELECT lo_from_bytea(0, 'a large object');
    CREATE SCHEMA "Odd.schema"; CREATE TABLE "Odd.schema"."it's ""odd""" (a int);
    INSERT INTO "Odd.schema"."it's ""odd""" VALUES (1), (2);
    CREATE TABLE empty (); CREATE UNLOGGED TABLE loose AS SELECT 1 AS one;
    CREATE TABLE days (d date) PARTITION BY RANGE (d);
    CREATE TABLE days_2026 PARTITION OF days FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
    INSERT INTO days VALUES ('2026-05-05');
    CREATE FUNCTION half(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1 / 2';
    CREATE FUNCTION quarter(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN half(half($1)); END';
    CREATE INDEX by_quarter ON orders (quarter(count));
    CREATE MATERIALIZED VIEW totals AS SELECT count(*) FROM orders`)
  await from.sql(
    'CREATE DATABASE "a/b = ../c" ENCODING latin1 LC_COLLATE "C" LC_CTYPE "C" TEMPLATE template0',
  )
  await from.sql("CREATE TABLE notes AS SELECT 'größe' AS text", 'a/b = ../c')
  await from.sql('CREATE TABLE in_postgres AS SELECT generate_series(1, 3)', 'postgres')

  const kept = await dumped(deps, from.target)
  const { contents, files } = kept
  expect([...files.keys()].toSorted()).toEqual([
    'db-roles.sql',
    'db/a%2Fb%20%3D%20..%2Fc.dump',
    'db/app.dump',
    'db/postgres.dump',
  ])
  expect(files.get('db/app.dump')!.toString('latin1', 0, 5)).toBe('PGDMP')
  const rows = Object.fromEntries(
    contents.databases.find(({ name }) => name === 'app')!.tables.map((t) => [t.name, t.rows]),
  )
  expect(rows).toMatchObject({
    ...{ 'public.orders': 2000, 'public.days_2026': 1, 'public.empty': 0, 'public.loose': 1 },
    ...{ 'Odd.schema.it\'s "odd"': 2, 'large objects': 1 },
  })
  expect(rows).not.toHaveProperty('public.totals')
  expect(contents.roles!.names).toEqual(['Odd; role', 'clerk', 'shop'])
  expect(JSON.stringify(contents)).not.toContain('password')

  // another administrator, who stays
  const to = await server('boss')
  await to.sql("CREATE ROLE clerk LOGIN PASSWORD 'today’s'")
  await loaded(deps, to.target, kept)
  const found = await inspected(deps, to.target)
  expect(differenceOf(contents, found)).toBeNull()
  expect(await settingsOf(to.sql)).toEqual(await settingsOf(from.sql))
  expect(await to.sql('SELECT text FROM notes', 'a/b = ../c')).toBe('größe')
  // one that existed keeps its password
  expect(await to.sql("SELECT rolconnlimit FROM pg_roles WHERE rolname = 'clerk'")).toBe('-1')
  expect(
    await to.sql(
      "SELECT count(*) FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.roleid WHERE rolname = 'Odd; role'",
    ),
  ).toBe('1')
  expect(await listTools()).toEqual([])
}, 180_000)

test('what is in a tablespace is dumped, with where that is, and loaded into a server without one, too', async () => {
  const from = await server()
  await from.target.run(['install', '-d', '-o', 'postgres', '/tmp/fast'])
  await from.sql("CREATE TABLESPACE fast LOCATION '/tmp/fast'")
  await from.sql('CREATE TABLE quick TABLESPACE fast AS SELECT generate_series(1, 5)')
  const kept = await dumped(deps, from.target)
  expect(kept.folders.toSorted()).toEqual(
    ['/tmp/fast', await from.sql('SHOW data_directory')].toSorted(),
  )
  const to = await server()
  for (const { target, sql } of [to, from]) {
    await loaded(deps, target, kept)
    expect(await sql('SELECT count(*) FROM quick')).toBe('5')
  }
  const placed = "SELECT count(*) FROM pg_tables WHERE tablename = 'quick' AND tablespace = 'fast'"
  expect([await from.sql(placed), await to.sql(placed)]).toEqual(['1', '0'])
}, 180_000)

const settingsOf = (sql: (text: string) => Promise<string>) =>
  sql(`SELECT pg_encoding_to_char(encoding), datcollate, pg_get_userbyid(datdba),
      (SELECT array_agg(a::text ORDER BY a::text) FROM unnest(datacl) a),
      shobj_description(oid, 'pg_database'),
      (SELECT array_agg(setconfig::text ORDER BY 1) FROM pg_db_role_setting WHERE setdatabase = d.oid),
      (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE relname = 'products')
    FROM pg_database d WHERE datname IN ('app', 'a/b = ../c') ORDER BY datname`)

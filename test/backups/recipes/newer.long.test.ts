import { expect, test } from 'bun:test'
import { differenceOf } from '../../../src/backups/recipes/index.ts'
import { ensureNewerServers } from '../../support/images/newer-servers.ts'
import { imageOf } from '../../support/images/recipes.ts'
import { ensureServiceImages } from '../../support/machine.ts'
import { until } from '../../support/until.ts'
import { dumped, inspected, loaded, scene } from './scene.ts'
import { shopOf } from './shop.ts'

await ensureServiceImages({ say: console.error })
await ensureNewerServers()

const { deps, start } = scene()

const failing = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error) => (error as { code: string }).code,
  )

test('a dump of PostgreSQL is loaded by a newer major version, and refused by an older one', async () => {
  const env = { POSTGRES_USER: 'shop', POSTGRES_PASSWORD: 'secret', POSTGRES_DB: 'app' }
  const psql = ['psql', '-h', '127.0.0.1', '-d', 'app', '-XAtqc']
  const server = async (image: string) => {
    const target = await start(image, { env, ready: [...psql, ''] })
    return { target, sql: (text: string) => target.run([...psql, text]) }
  }
  const [older, newer] = [
    await server(await imageOf('postgresql')),
    await server('davit-test-newer/postgres:18'),
  ]
  await older.sql(shopOf(3000))
  const kept = await dumped(deps, older.target)
  await loaded(deps, newer.target, kept)
  expect(differenceOf(kept.contents, await inspected(deps, newer.target))).toBeNull()
  await newer.sql(
    "CREATE DATABASE text LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' TEMPLATE template0",
  )
  const back = await dumped(deps, newer.target)
  expect(await failing(loaded(deps, older.target, back))).toBe('load_version')
  expect(differenceOf(kept.contents, await inspected(deps, older.target))).toBeNull()
  await loaded(deps, newer.target, back)
  const provider = "SELECT datlocprovider, datlocale FROM pg_database WHERE datname = 'text'"
  expect(await newer.sql(provider)).toBe('b|C.UTF-8')
}, 240_000)

test('all of MySQL is in a dump and in another server, with exact counts while others write', async () => {
  const mysql = ['mysql', '-h127.0.0.1', '-uroot', '-NBr', '-e']
  const server = async (password: string) => {
    const env = {
      ...{ MYSQL_USER: 'shop', MYSQL_PASSWORD: `of-${password}`, MYSQL_DATABASE: 'app' },
      MYSQL_ROOT_PASSWORD: password,
    }
    const target = await start('davit-test-newer/mysql:9', {
      ...{ env, ready: [...mysql, 'SELECT 1', 'app'], memoryBytes: 1024 * 2 ** 20 },
    })
    return { target, sql: (text: string) => target.run([...mysql, text, 'app']) }
  }
  const rows = (count: number) => `INSERT INTO orders (note) SELECT SHA2(n, 256) FROM
    (WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < ${count}) SELECT n FROM s) t`
  const [from, to] = [await server('one'), await server('two')]
  await from.sql(`
    CREATE TABLE orders (id BIGINT PRIMARY KEY AUTO_INCREMENT, note TEXT); ${rows(900)};
    CREATE DATABASE \`odd/\`\`x\`; CREATE TABLE \`odd/\`\`x\`.\`it's \`\`odd\`\`\` AS SELECT 1 AS a, X'00ff27' AS b;
    CREATE TRIGGER noted BEFORE INSERT ON orders FOR EACH ROW SET NEW.note = COALESCE(NEW.note, 'none');
    CREATE PROCEDURE p() SELECT 1; CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY DO DELETE FROM orders WHERE id < 0;
    CREATE USER clerk@'10.%' IDENTIFIED BY 'it''s; secret'; GRANT SELECT ON orders TO clerk@'10.%' WITH GRANT OPTION;
    CREATE ROLE sellers; GRANT INSERT ON app.* TO sellers; GRANT sellers TO clerk@'10.%'`)
  const line = `while [ ! -e /tmp/stop ]; do mysql -h127.0.0.1 -uroot app -e "${rows(50)}; DELETE FROM orders ORDER BY RAND() LIMIT 17" || exit; done`
  const writing = from.target.run(['sh', '-c', line])
  const before = await from.sql('SELECT COUNT(*) FROM orders')
  await until(async () => (await from.sql('SELECT COUNT(*) FROM orders')) !== before)
  const kept = await dumped(deps, from.target)
  await from.target.run(['touch', '/tmp/stop'])
  await writing
  expect([...kept.files.keys()].toSorted()).toEqual([
    'db-roles.sql',
    'db/app.sql',
    'db/odd%2F%60x.sql',
  ])
  expect(kept.contents.databases.some(({ isInexact }) => isInexact)).toBeFalse()
  await loaded(deps, to.target, kept)
  expect(differenceOf(kept.contents, await inspected(deps, to.target))).toBeNull()
  expect(differenceOf(kept.contents, await inspected(deps, from.target))).toContain('orders')
  const same = async (sql: string) => expect(await to.sql(sql)).toBe(await from.sql(sql))
  await same("SET print_identified_with_as_hex = ON; SHOW CREATE USER clerk@'10.%'")
  await same("SHOW GRANTS FOR clerk@'10.%'; SHOW GRANTS FOR sellers")
  await same("SELECT HEX(b) FROM `odd/``x`.`it's ``odd```")
  await same("SELECT routine_name FROM information_schema.routines WHERE routine_schema = 'app'")
  await same("SELECT event_name, status FROM information_schema.events WHERE event_schema = 'app'")
  await to.target.run(['mysql', '-h127.0.0.1', '-ushop', '-e', 'SELECT 1', 'app'], {
    MYSQL_PWD: 'of-two',
  })
}, 300_000)

test('Valkey takes a snapshot of its own and of Redis, and Redis refuses one that is too new for it', async () => {
  const valkey = async () => {
    const command = ['valkey-server', '--appendonly', 'yes', '--requirepass', 'secret']
    const ready = ['sh', '-c', 'valkey-cli ping | grep PONG']
    return start('davit-test-newer/valkey:9', { command, ready })
  }
  const [from, to] = [await valkey(), await valkey()]
  const redis = await start(await imageOf('redis'), {
    command: ['redis-server', '--requirepass', 'other'],
    ready: ['sh', '-c', 'redis-cli ping | grep PONG'],
  })
  await from.run([
    'valkey-cli',
    'eval',
    "for i = 1, 500 do redis.call('SET', 'key' .. i, i) end",
    '0',
  ])
  const kept = await dumped(deps, from)
  expect(kept.contents.version).toStartWith('Valkey 9.')
  await loaded(deps, to, kept)
  expect(differenceOf(kept.contents, await inspected(deps, to))).toBeNull()
  await redis.run(['redis-cli', 'set', 'of redis', '1'])
  expect(await failing(loaded(deps, redis, kept))).toBe('dump_failed')
  expect(await redis.run(['redis-cli', 'get', 'of redis'])).toBe('1')
  await loaded(deps, to, await dumped(deps, redis))
  expect(await to.run(['valkey-cli', 'get', 'of redis'])).toBe('1')
  expect(await to.run(['valkey-cli', 'dbsize'])).toBe('1')
}, 120_000)

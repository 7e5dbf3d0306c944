import { expect, test } from 'bun:test'
import { differenceOf } from '../../../src/backups/recipes/index.ts'
import { imageOf } from '../../support/images/recipes.ts'
import { ensureServiceImages } from '../../support/machine.ts'
import { until } from '../../support/until.ts'
import { dumped, inspected, loaded, scene } from './scene.ts'

await ensureServiceImages({ say: console.error })

const { deps, failing, start } = scene()
const image = await imageOf('mariadb')

async function server(password = 'root-secret') {
  const env = {
    ...{ MARIADB_USER: 'shop', MARIADB_PASSWORD: `password-${password}`, MARIADB_DATABASE: 'app' },
    MARIADB_ROOT_PASSWORD: password,
  }
  const mariadb = ['mariadb', '-h127.0.0.1', '-uroot', '-NBr', '-e']
  const target = await start(image, { env, ready: [...mariadb, 'SELECT 1', 'app'] })
  const sql = (text: string, database = 'app') => target.run([...mariadb, text, database])
  return { target, sql, mariadb }
}

const rows = (count: number) => `INSERT INTO orders (product, note, data)
  SELECT 1 + seq % 100, MD5(seq), UNHEX(MD5(seq)) FROM seq_1_to_${count}`

const shop = `
  CREATE TABLE products (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(80) NOT NULL);
  INSERT INTO products (name) SELECT CONCAT('größe ', seq) FROM seq_1_to_100;
  CREATE TABLE orders (id BIGINT PRIMARY KEY AUTO_INCREMENT, product INT NOT NULL REFERENCES products (id),
    note TEXT, data BLOB, KEY (product));
  ${rows(5000)}`

const from = await server()
await from.sql(shop)

test('all databases, routines, triggers, events, users and rights are in a dump, and in another server', async () => {
  await from.sql(`
    CREATE DATABASE \`odd/name; \`\`x\`\` --.\` CHARACTER SET latin1;
    CREATE TABLE \`odd/name; \`\`x\`\` --.\`.\`it's \`\`odd\`\`\` (a INT);
    INSERT INTO \`odd/name; \`\`x\`\` --.\`.\`it's \`\`odd\`\`\` VALUES (1), (2);
    CREATE DATABASE roles;
    CREATE VIEW named AS SELECT o.id, name FROM orders o JOIN products p ON p.id = product;
    CREATE FUNCTION half(a INT) RETURNS INT DETERMINISTIC RETURN a / 2;
    CREATE TRIGGER noted BEFORE INSERT ON orders FOR EACH ROW SET NEW.note = COALESCE(NEW.note, 'none');
    CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY DO DELETE FROM orders WHERE id < 0;
    CREATE TABLE old_kind (a INT) ENGINE MyISAM; INSERT INTO old_kind VALUES (1);
    CREATE SEQUENCE counter;
    CREATE USER clerk@'10.%' IDENTIFIED BY 'it''s; secret'; GRANT SELECT ON app.orders TO clerk@'10.%' WITH GRANT OPTION;
    CREATE ROLE sellers; GRANT INSERT ON app.* TO sellers; GRANT sellers TO clerk@'10.%'`)
  const kept = await dumped(deps, from.target)
  const { contents, files, folders } = kept
  expect(folders).toContain('/var/lib/mysql/')
  expect([...files.keys()].toSorted()).toEqual([
    'db-roles.sql',
    'db/app.sql',
    'db/odd%2Fname%3B%20%60x%60%20--..sql',
    'db/roles.sql',
  ])
  const app = contents.databases.find(({ name }) => name === 'app')!
  expect(app.tables).toEqual([
    { name: 'old_kind', rows: 1 },
    { name: 'orders', rows: 5000 },
    { name: 'products', rows: 100 },
  ])
  expect(app.isInexact).toBeUndefined()
  expect(contents.version).toContain('MariaDB')
  expect(JSON.stringify(contents)).not.toContain('secret')

  const to = await server('another-root')
  await to.sql('CREATE TABLE of_today (a INT); CREATE USER other')
  await loaded(deps, to.target, kept)
  expect(differenceOf(contents, await inspected(deps, to.target))).toBeNull()
  const same = async (sql: string) => expect(await to.sql(sql)).toBe(await from.sql(sql))
  await same('CHECKSUM TABLE orders, products')
  await same('SELECT half(8), (SELECT COUNT(*) FROM named)')
  await same("SELECT event_name, status FROM information_schema.events WHERE event_schema = 'app'")
  await same("SHOW CREATE USER clerk@'10.%'")
  await same("SHOW GRANTS FOR clerk@'10.%'")
  await same('SHOW GRANTS FOR sellers')
  await same(
    'SELECT default_character_set_name FROM information_schema.schemata ORDER BY schema_name',
  )
  expect(
    await to.sql("SELECT COUNT(*) FROM information_schema.tables WHERE table_name = 'of_today'"),
  ).toBe('0')
  // users that existed keep their passwords, and root can still log in
  const asShop = ['mariadb', '-h127.0.0.1', '-ushop', '-e', 'SELECT 1', 'app']
  await to.target.run(asShop, { MYSQL_PWD: 'password-another-root' })
}, 240_000)

test('a restored copy has exactly the rows that were counted while others wrote', async () => {
  const line = `while [ ! -e /tmp/stop ]; do mariadb -h127.0.0.1 -uroot app -e "
    ${rows(50)}; DELETE FROM orders ORDER BY RAND() LIMIT 17; INSERT INTO products (name) VALUES ('x')" || exit; done`
  const writing = [1, 2].map(() => from.target.run(['sh', '-c', line]))
  const before = await from.sql('SELECT COUNT(*) FROM orders')
  await until(async () => (await from.sql('SELECT COUNT(*) FROM orders')) !== before)
  const to = await server()
  for (let round = 0; round < 3; round++) {
    const kept = await dumped(deps, from.target)
    await loaded(deps, to.target, { ...kept, database: 'app' })
    expect(differenceOf(kept.contents, await inspected(deps, to.target), 'app')).toBeNull()
    expect(differenceOf(kept.contents, await inspected(deps, from.target), 'app')).not.toBeNull()
  }
  await from.target.run(['touch', '/tmp/stop'])
  await Promise.all(writing)
}, 240_000)

test('a long change doesn’t keep a backup from being made, but its counts from being exact', async () => {
  const long = from.sql('UPDATE products SET name = name WHERE SLEEP(1000) = 1').catch(() => {})
  const isRunning =
    "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'UPDATE products%'"
  await until(async () => (await from.sql(isRunning)) !== '0')
  const { contents } = await dumped(deps, from.target)
  expect(contents.databases.find(({ name }) => name === 'app')).toMatchObject({ isInexact: true })
  await from.sql(`KILL ${await from.sql(isRunning.replace('COUNT(*)', 'id'))}`)
  await long
}, 120_000)

test('a wrong password, a locked table and a dump that was cut are failures', async () => {
  const source = { ...from.target.source, env: { ...from.target.source.env, MYSQL_PWD: 'old' } }
  expect(await failing(dumped(deps, { ...from.target, source }))).toBe('dump_login')
  const kept = await dumped(deps, from.target)
  const spoilt = {
    ...kept,
    files: new Map(kept.files).set('db/app.sql', Buffer.from('CREATE TABEL x;')),
  }
  expect(await failing(loaded(deps, from.target, { ...spoilt, database: 'app' }))).toBe(
    'dump_failed',
  )
}, 120_000)

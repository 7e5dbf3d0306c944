import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { nextPostgres } from '../../support/images/recipes.ts'
import { testApp } from '../../support/app.ts'
import { ensureServiceImages } from '../../support/machine.ts'
import type { AService, App, Client } from './a-service.ts'
import { aService, nothing, onTheEngine } from './a-service.ts'

await ensureServiceImages({ say: console.error })

const rows = 'SELECT string_agg(text, $$,$$ ORDER BY id) FROM notes'

test('PostgreSQL keeps its data through all that is done to it, until its volumes go', async () => {
  const t = testApp()
  const client = t.logIn('ada@example.com')
  const db = await aService(t, client, 'postgresql', { POSTGRES_USER: 'ada' })
  expect(await db.see()).toMatchObject({ status: 'running', error: null, version: '17.11' })
  const secrets = await db.secrets()
  const { Password } = secrets
  const sql = (query: string, password = Password!) =>
    psql(db, query, { user: 'ada', database: 'app', password })

  // made and written to, by who has the password
  await sql('CREATE TABLE notes (id serial, text text)')
  expect(await note('first')).toContain('INSERT 0 1')
  expect(await sql(rows, 'wrong')).toContain('password authentication failed')
  expect(await sql(rows)).toBe('first')
  const first = await db.container('db')

  // restarted: the same container
  await db.act('post', '/restart')
  expect(await db.see()).toMatchObject({ status: 'running', error: null })
  expect(await db.container('db')).toBe(first)
  expect(await written(t, first)).toContain('database system is shut down')
  expect(await sql(rows)).toBe('first')
  await note('second')

  // a variable changed: another container on the same data, the password as it was
  const change = { POSTGRES_DB: 'postgres' }
  const preview = await client.put(db.path, { ...change, preview: true })
  expect(preview.json).toMatchObject({ remakes: true, volumes: [`davit-${db.id}-data`] })
  expect(preview.json.changes).toHaveLength(1)
  expect(await db.container('db')).toBe(first)
  await db.act('put', '', change)
  expect(await db.see()).toMatchObject({ status: 'running', error: null })
  expect(await db.container('db')).not.toBe(first)
  expect((await db.secrets()).Password).toBe(Password)
  expect(await sql(rows)).toBe('first,second')
  await note('third')
  const second = await db.container('db')

  // another version, the volumes kept
  const [, version] = (await nextPostgres()).split(':')
  await db.act('put', '', { version })
  expect(await db.see()).toMatchObject({ status: 'running', error: null, version })
  expect((await t.docker.inspectContainer(await db.container('db')))!.image).toBe(
    `docker.io/library/${await nextPostgres()}`,
  )
  expect(await db.container('db')).not.toBe(second)
  expect(await sql(rows)).toBe('first,second,third')
  await note('fourth')

  // a version that is not to be had: it goes on as it was
  await db.act('put', '', { version: '0.0-none' })
  expect(await db.see()).toMatchObject({
    status: 'running',
    version,
    error: { message: expect.stringContaining('The change was undone.') },
  })
  expect(await sql(rows)).toBe('first,second,third,fourth')

  // stopped, in good order, and started
  const third = await db.container('db')
  await db.act('post', '/stop')
  expect(await db.see()).toMatchObject({ status: 'stopped', error: null })
  expect((await t.docker.inspectContainer(third))!).toMatchObject({ state: 'exited', exitCode: 0 })
  expect((await written(t, third)).at(-1)).toContain('database system is shut down')
  await db.act('post', '/restart')
  expect(await db.see()).toMatchObject({ status: 'running', error: null })
  expect(await written(t, third)).not.toContain('was not properly shut down')
  expect(await sql(rows)).toBe('first,second,third,fourth')

  // its password and database changed: in the server too, which reads them at its first start only
  const another = 'an0ther-Password_1'
  await db.act('put', '', { POSTGRES_PASSWORD: another, POSTGRES_DB: 'later' })
  expect(await db.see()).toMatchObject({ status: 'running', error: null })
  expect(await sql(rows)).toContain('password authentication failed')
  expect(await sql(rows, another)).toBe('first,second,third,fourth')
  const later = { user: 'ada', database: 'later', password: another }
  expect(await psql(db, 'SELECT current_database()', later)).toBe('later')

  // what can't be changed there is refused, as is what can in a server that is stopped
  const refused = await client.put(db.path, { POSTGRES_USER: 'bob' })
  expect(refused.status).toBe(422)
  expect(refused.json.errors).toMatchObject([{ field: 'POSTGRES_USER' }])
  await db.act('post', '/stop')
  expect((await client.put(db.path, { POSTGRES_PASSWORD: Password })).status).toBe(409)

  // the passwords are where they must be and nowhere else
  expect(await leaks(t, client, db, another)).toEqual([])
  expect(await leaks(t, client, db, Password!, { isShown: false })).toEqual([])

  // deleted, its volume kept, with the data in it
  const removed = await db.act('delete')
  expect(removed.json.removed.map(({ kind }: { kind: string }) => kind).toSorted()).toEqual([
    'container',
    'network',
    'service',
  ])
  const kept = `davit-${db.id}-data`
  expect(await onTheEngine(t)).toEqual({ ...nothing, volumes: [kept] })
  expect((await client.get(db.path)).status).toBe(404)
  expect(await filesIn(t, kept)).toContain('PG_VERSION')

  // made again, under the same name: it is empty and has a password of its own
  const again = await aService(t, client, 'postgresql')
  expect(await again.see()).toMatchObject({ status: 'running', error: null })
  const own = await again.secrets()
  expect(own.Password).not.toBe(Password)
  const tables = 'SELECT count(*) FROM pg_tables WHERE tablename = $$notes$$'
  const as = { user: 'davit', database: 'app', password: own.Password! }
  expect(await psql(again, tables, as)).toBe('0')

  // deleted with its volumes; what another instance kept stays
  await again.act('delete', '?volumes=true')
  expect(await onTheEngine(t)).toEqual({ ...nothing, volumes: [kept] })
  await t.docker.removeVolume(kept)
  expect(await onTheEngine(t)).toEqual(nothing)

  async function note(text: string) {
    return sql(`INSERT INTO notes (text) VALUES ($$${text}$$)`)
  }
}, 180_000)

/** By name over the network: the server trusts whoever is on its own loopback. */
async function psql(
  db: AService,
  query: string,
  { user, database, password }: { user: string; database: string; password: string },
) {
  const command = ['psql', '-h', 'db', '-U', user, '-d', database, '-tAc', query]
  return (await db.run('db', command, { PGPASSWORD: password })).output
}

async function written({ docker }: App, id: string) {
  const lines: string[] = []
  for await (const batch of docker.containerLogs(id, { tail: 200 }))
    lines.push(...batch.map(({ text }) => text))
  return lines.map((line) => line.replace(/^.*? LOG: +/, ''))
}

/** Where a secret is that it should not be: pages, answers, logs, command lines, what is stored. */
async function leaks(
  t: App,
  client: Client,
  db: AService,
  secret: string,
  { isShown = true } = {},
) {
  const container = await db.container('db')
  const places: [string, string][] = [
    ['its page', (await client.page(db.path)).text],
    ['its JSON', JSON.stringify(await db.see())],
    ['its form', (await client.page(`${db.path}/edit`)).text],
    ['its form as JSON', JSON.stringify((await client.get(`${db.path}/edit`)).json)],
    ['the list', (await client.page('/services')).text],
    ['its container', (await client.page(`/containers/${container}`)).text],
    ['its container as JSON', JSON.stringify((await client.get(`/containers/${container}`)).json)],
    ['its log', (await written(t, container)).join('\n')],
    ['the database', Buffer.from(t.db.$client.serialize()).toString('latin1')],
    ['command lines', commandLines()],
  ]
  const { text } = await client.page(`${db.path}/secrets`)
  expect(text.includes(secret)).toBe(isShown) // so it can be found
  expect(places.map(([place, text]) => [place, text.length > 0])).toEqual(
    places.map(([place]) => [place, true]),
  )
  return places.filter(([, text]) => text.includes(secret)).map(([place]) => place)
}

const commandLines = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
      } catch {
        return '' // it has ended meanwhile
      }
    })
    .join('\n')

/** The top of a volume, as a container sees it. */
async function filesIn({ docker, instanceId }: App, volume: string) {
  const id = await docker.createContainer({
    name: `davit-test-${Bun.randomUUIDv7()}`,
    image: 'busybox:latest',
    command: ['ls', '/volume'],
    labels: { 'davit.instance': instanceId },
    network: 'none',
    capabilities: ['DAC_OVERRIDE'], // the data is another user’s
    volumes: [{ name: volume, path: '/volume', readOnly: true }],
    ...{ memoryBytes: 32 * 2 ** 20, cpus: 1, pidsLimit: 64 },
  })
  await docker.startContainer(id)
  await docker.waitForExit(id)
  const lines: string[] = []
  for await (const batch of docker.containerLogs(id, { tail: 100 }))
    lines.push(...batch.map(({ text }) => text))
  await docker.removeContainer(id, { force: true })
  return lines
}

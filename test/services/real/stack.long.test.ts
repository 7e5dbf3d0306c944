import { expect, test } from 'bun:test'
import { imageOf } from '../../support/images/recipes.ts'
import { testApp } from '../../support/app.ts'
import { ensureServiceImages } from '../../support/machine.ts'
import { aService, nothing, onTheEngine } from './a-service.ts'

await ensureServiceImages({ say: console.error })

test('an app waits for its database to be well and its tables to be made', async () => {
  const t = testApp()
  const shop = await aService(t, t.logIn('ada@example.com'), 'compose', {
    compose: shopOn(await imageOf('postgresql')),
    DB_PASSWORD: 'a-password_1',
  })
  const seen = await shop.see()
  expect(seen).toMatchObject({ status: 'running', error: null })
  expect(states(seen)).toEqual({ app: 'running', db: 'running', migrate: 'exited' })
  expect(await orders()).toBe('1')

  // again in order, on the same data: the database first, then the tables, then the app
  await shop.act('post', '/restart')
  expect(await shop.see()).toMatchObject({ status: 'running', error: null })
  expect(await orders()).toBe('2')

  // the app can't log in any more: the change is undone, the data is there
  await shop.act('put', '', { APP_USER: 'nobody' })
  expect(await shop.see()).toMatchObject({
    status: 'running',
    error: { code: 'exited', message: expect.stringContaining('The change was undone.') },
  })
  expect((await shop.see()).error.hint).toContain('password authentication failed')
  expect(await orders()).toBe('3')

  await shop.act('delete', '?volumes=true')
  expect(await onTheEngine(t)).toEqual(nothing)

  async function orders() {
    const query = ['psql', '-U', 'shop', '-tAc', 'SELECT count(*) FROM orders']
    return (await shop.run('db', query)).output
  }
}, 120_000)

const states = ({ containers }: { containers: { part: string; state: string }[] }) =>
  Object.fromEntries(containers.map(({ part, state }) => [part, state]))

/** Two roles of one image beside a database: all that it takes to see an order. */
const shopOn = (image: string) => `
x-client: &client
  image: ${image}
  environment: { PGHOST: db, PGDATABASE: shop, PGUSER: '\${APP_USER:-shop}', PGPASSWORD: '\${DB_PASSWORD:?}' }
  init: true
  stop_grace_period: 2s
services:
  app:
    <<: *client
    depends_on:
      migrate: { condition: service_completed_successfully }
    entrypoint: [sh, -c, 'psql -c "INSERT INTO orders DEFAULT VALUES" && exec sleep 999999']
    healthcheck: { test: [CMD, psql, -c, 'SELECT 1'], interval: 1s, retries: 30 }
  migrate:
    <<: *client
    depends_on:
      db: { condition: service_healthy }
    entrypoint: [psql, -c, 'CREATE TABLE IF NOT EXISTS orders (id serial)']
  db:
    image: ${image}
    environment: { POSTGRES_USER: shop, POSTGRES_DB: shop, POSTGRES_PASSWORD: '\${DB_PASSWORD:?}' }
    init: true
    volumes: ['data:/var/lib/postgresql/data']
    healthcheck: { test: [CMD, pg_isready, -h, 127.0.0.1], interval: 1s, retries: 60 }
volumes: { data: {} }
`

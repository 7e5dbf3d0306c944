import { expect, test } from 'bun:test'
import { testApp, withAda } from '../../support/app.ts'
import { ensureServiceImages } from '../../support/machine.ts'
import { imageOf } from '../../support/images/recipes.ts'
import { aService } from './a-service.ts'

await ensureServiceImages({ say: console.error })

const odd = `it's "odd" \\ $x \`y\``

test('a change that fails is undone in the servers too, and any password can be set', async () => {
  const { t, ada } = withAda(testApp())
  const compose = await file()
  const dbs = await aService(t, ada, 'compose', { compose })
  expect(await dbs.see()).toMatchObject({ status: 'running', error: null })
  expect(await accepted('pg-first', 'my-first', 'root-first')).toEqual([true, true, true])

  // the app, which starts once both servers have theirs, ends at once
  const values = { PG_PASSWORD: odd, MY_PASSWORD: odd, MY_ROOT: 'root-second' }
  await dbs.act('put', '', { ...values, FAILS: 'yes' })
  expect((await dbs.see()).error.message).toContain('The change was undone.')
  expect(await accepted('pg-first', 'my-first', 'root-first')).toEqual([true, true, true])
  expect(await accepted(odd, odd, 'root-second')).toEqual([false, false, false])

  await dbs.act('put', '', values)
  expect(await dbs.see()).toMatchObject({ status: 'running', error: null })
  expect(await accepted(odd, odd, 'root-second')).toEqual([true, true, true])
  expect(await accepted('pg-first', 'my-first', 'root-first')).toEqual([false, false, false])
  await dbs.act('delete', '?volumes=true')

  /** Whether each server takes its password, over the network. */
  async function accepted(pg: string, my: string, root: string) {
    const mariadb = (user: string) => ['mariadb', '-h', 'my', '-u', user, '-e', 'SELECT 1']
    const answers = [
      await dbs.run('pg', ['psql', '-h', 'pg', '-U', 'a', '-c', 'SELECT 1'], { PGPASSWORD: pg }),
      await dbs.run('my', mariadb('a'), { MYSQL_PWD: my }),
      await dbs.run('my', ['mariadb', '-u', 'root', '-e', 'SELECT 1'], { MYSQL_PWD: root }),
    ]
    return answers.map(({ exitCode }) => exitCode === 0)
  }
}, 180_000)

const file = async () => `
x-davit:
  name: Two servers
  version: '1'
  variables:
    PG_PASSWORD: { default: pg-first, secret: true }
    MY_PASSWORD: { default: my-first, secret: true }
    MY_ROOT: { default: root-first, secret: true }
    FAILS: { default: 'no' }
  first_start:
    PG_PASSWORD: { service: pg, run: postgresql_password }
    MY_ROOT: { service: my, run: mysql_root_password }
    MY_PASSWORD: { service: my, run: mysql_password }
services:
  app:
    image: busybox
    init: true
    stop_grace_period: 1s
    command: [sh, -c, '[ $$FAILS = no ] && exec sleep 999']
    environment: { FAILS: '\${FAILS}' }
    depends_on:
      pg: { condition: service_healthy }
      my: { condition: service_healthy }
  pg:
    image: ${await imageOf('postgresql')}
    environment: { POSTGRES_USER: a, POSTGRES_DB: a, POSTGRES_PASSWORD: '\${PG_PASSWORD}' }
    volumes: ['pg:/var/lib/postgresql/data']
    healthcheck: { test: [CMD, pg_isready, -h, 127.0.0.1, -U, a], interval: 2s, start_period: 60s }
  my:
    image: ${await imageOf('mariadb')}
    environment:
      MARIADB_USER: a
      MARIADB_DATABASE: a
      MARIADB_PASSWORD: \${MY_PASSWORD}
      MARIADB_ROOT_PASSWORD: \${MY_ROOT}
    volumes: ['my:/var/lib/mysql']
    healthcheck:
      test: [CMD, healthcheck.sh, --connect, --innodb_initialized]
      interval: 2s
      start_period: 60s
volumes: { pg: {}, my: {} }
`

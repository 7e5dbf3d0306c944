import { expect, test } from 'bun:test'
import { testApp } from '../../support/app.ts'
import { ensureServiceImages } from '../../support/machine.ts'
import type { App, Client } from './a-service.ts'
import { aService, nothing, onTheEngine } from './a-service.ts'

await ensureServiceImages({ say: console.error })

test('three servers start side by side, and each answers its own client', async () => {
  const t = testApp()
  const client = t.logIn('ada@example.com')
  await Promise.all([tryRedis(t, client), tryMariadb(t, client), tryRabbit(t, client)])
  expect(await onTheEngine(t)).toEqual(nothing)
}, 180_000)

async function tryRedis(t: App, client: Client) {
  const redis = await aService(t, client, 'redis', { REDIS_MAXMEMORY: '64mb' })
  expect(await redis.see()).toMatchObject({ status: 'running', error: null })
  const { Password } = await redis.secrets()
  const as = (REDISCLI_AUTH: string, ...command: string[]) =>
    redis.run('redis', ['redis-cli', ...command], { REDISCLI_AUTH })

  expect((await as(Password!, 'SET', 'greeting', 'hello')).output).toBe('OK')
  expect((await as('wrong', 'GET', 'greeting')).output).toContain('NOAUTH')
  expect((await as(Password!, 'CONFIG', 'GET', 'maxmemory')).output).toContain('67108864')
  await redis.act('post', '/restart')
  expect((await as(Password!, 'GET', 'greeting')).output).toBe('hello')

  const { url } = await redis.see()
  expect(await pingAt(new URL(url), Password!)).toBe('+OK\r\n+PONG\r\n')
  // it reads its password at each start
  await redis.act('put', '', { REDIS_PASSWORD: 'an0ther-password' })
  expect((await as(Password!, 'GET', 'greeting')).output).toContain('NOAUTH')
  expect((await as('an0ther-password', 'GET', 'greeting')).output).toBe('hello')

  await redis.act('delete', '?volumes=true')
}

async function tryMariadb(t: App, client: Client) {
  const mariadb = await aService(t, client, 'mariadb', { MARIADB_USER: 'ada' })
  expect(await mariadb.see()).toMatchObject({ status: 'running', error: null })
  const { Password, 'Password of root': rootPassword } = await mariadb.secrets()
  const as = (user: string, MYSQL_PWD: string, sql: string) =>
    mariadb.run('db', ['mariadb', '-h', 'db', '-u', user, '-N', '-e', sql, 'app'], { MYSQL_PWD })

  const made = await as('ada', Password!, 'CREATE TABLE notes (text TEXT)')
  expect(made).toEqual({ exitCode: 0, output: '' })
  await as('ada', Password!, "INSERT INTO notes VALUES ('kept')")
  expect((await as('ada', 'wrong', 'SELECT 1')).output).toContain('Access denied')
  expect((await as('ada', rootPassword!, 'SELECT 1')).output).toContain('Access denied')
  await mariadb.act('post', '/restart')
  expect((await as('ada', Password!, 'SELECT * FROM notes')).output).toContain('kept')
  const asRoot = ['mariadb', '-u', 'root', '-N', '-e', 'SELECT current_user()']
  const root = await mariadb.run('db', asRoot, { MYSQL_PWD: rootPassword! })
  expect(root.output).toContain('root@localhost')

  // each password changes in the server too
  const [own, ofRoot] = ['0wn-password_', 'r00t-password_']
  await mariadb.act('put', '', {
    ...{ MARIADB_PASSWORD: own, MARIADB_ROOT_PASSWORD: ofRoot },
    MARIADB_DATABASE: 'made_later',
  })
  expect(await mariadb.see()).toMatchObject({ status: 'running', error: null })
  expect((await as('ada', Password!, 'SELECT 1')).output).toContain('Access denied')
  expect((await as('ada', own, 'SELECT * FROM notes')).output).toContain('kept')
  expect((await as('ada', own, 'CREATE TABLE made_later.x (y INT)')).exitCode).toBe(0)
  expect((await mariadb.run('db', asRoot, { MYSQL_PWD: rootPassword! })).exitCode).toBe(1)
  expect((await mariadb.run('db', asRoot, { MYSQL_PWD: ofRoot })).exitCode).toBe(0)

  await mariadb.act('delete', '?volumes=true')
}

async function tryRabbit(t: App, client: Client) {
  const rabbit = await aService(t, client, 'rabbitmq')
  expect(await rabbit.see()).toMatchObject({ status: 'running', error: null })
  const { User, Password } = await rabbit.secrets()
  const login = (password: string) =>
    rabbit.run('rabbitmq', ['rabbitmqctl', 'authenticate_user', User!, password])
  expect(await login(Password!)).toMatchObject({ exitCode: 0 })
  expect((await login('wrong')).output).toContain('failed to authenticate')

  const { url } = await rabbit.see()
  const overview = (password: string) =>
    fetch(`${url}/api/overview`, {
      headers: { Authorization: `Basic ${btoa(`${User}:${password}`)}` },
    })
  const answer = await overview(Password!)
  expect(await answer.json()).toMatchObject({ node: 'rabbit@rabbitmq' })
  expect((await overview('wrong')).status).toBe(401)

  await rabbit.act('put', '', { RABBITMQ_PASSWORD: 'an0ther-password' })
  expect(await rabbit.see()).toMatchObject({ status: 'running', error: null })
  expect((await login(Password!)).output).toContain('failed to authenticate')
  expect(await login('an0ther-password')).toMatchObject({ exitCode: 0 })

  await rabbit.act('delete', '?volumes=true')
}

/** What a client on the host is answered. */
async function pingAt({ hostname, port }: URL, password: string) {
  const { promise, resolve } = Promise.withResolvers<string>()
  let said = ''
  await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(socket, bytes) {
        said += bytes.toString()
        if (!said.includes('PONG')) return
        socket.end()
        resolve(said)
      },
      open: (socket) => void socket.write(`AUTH ${password}\r\nPING\r\n`),
    },
  })
  return promise
}

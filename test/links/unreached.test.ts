import { describe, expect, test } from 'bun:test'
import { findOwnEnvironment } from '../../src/environments/store.ts'
import { unreachedIn, whyUnreached } from '../../src/links/unreached.ts'
import { updateService } from '../../src/services/store.ts'
import { aCommand, aProject } from '../deployments/apps.ts'
import { anEnvironment } from '../logs/collecting.ts'
import { idle, made } from '../services/instances.ts'
import { testApp, withAda } from '../support/app.ts'

describe('what clients say when they reach nothing', () => {
  const db = { isUnknown: true, host: 'db', port: undefined }
  const at = (host: string | undefined, port?: string) => ({ isUnknown: false, host, port })
  test.each([
    ['Error: getaddrinfo ENOTFOUND db', db],
    ['Error: getaddrinfo EAI_AGAIN db db:5432', db],
    ['psql: error: could not translate host name "db" to address: Name or service not known', db],
    ["ERROR 2005 (HY000): Unknown server host 'db' (-2)", db],
    ["Unknown MySQL server host 'db' (11001)", db],
    ['dial tcp: lookup db on 127.0.0.11:53: no such host', db],
    ['PDOException: getaddrinfo for db failed: Name or service not known', db],
    ['java.net.UnknownHostException: db', db],
    [
      'redis.exceptions.ConnectionError: Error -2 connecting to db:6379. Name or service not known.',
      { ...db, port: '6379' },
    ],
    ['socket.gaierror: [Errno -2] Name or service not known', { ...db, host: undefined }],
    ['Error: connect ECONNREFUSED 172.18.0.2:5432', at('172.18.0.2', '5432')],
    ['Error: connect ECONNREFUSED ::1:6379', at('::1', '6379')],
    [
      'connection to server at "db" (10.1.0.9), port 5432 failed: Connection refused',
      at('db', '5432'),
    ],
    ['dial tcp [::1]:5432: connect: connection refused', at('::1', '5432')],
    ['Error 111 connecting to db:6379. Connection refused.', at('db', '6379')],
    ["ERROR 2002 (HY000): Can't connect to MySQL server on 'db' (115)", at('db')],
    ['Connection refused - connect(2) for "db" port 5672 (Errno::ECONNREFUSED)', at('db', '5672')],
    ['org.postgresql.util.PSQLException: Connection to db:5432 refused.', at('db', '5432')],
    ['ConnectionRefusedError: [Errno 111] Connection refused', at(undefined)],
  ])('%s', (line, found) => {
    expect(unreachedIn(['starting', line, 'exiting'])).toEqual(found)
  })

  test('and nothing where they speak of something else', () => {
    expect(unreachedIn(['listening on db:5432', 'refused to start', ''])).toBeNull()
    const early = ['connect ECONNREFUSED ::1:1', ...Array<string>(80).fill('later')]
    expect(unreachedIn(early)).toBeNull()
  })
})

test('a deployment that fails to connect says what to look at', async () => {
  const { t, ada } = withAda(testApp({}, { config: { settleTime: 60_000 } }))
  const files = aCommand("echo 'getaddrinfo ENOTFOUND db' >&2; exit 1")
  const project = await aProject(t, ada, files, { healthTimeout: 2 })
  expect((await project.deploy()).error.hint).toMatch(
    /^Its output says that there is no host db\. .* Fix what/,
  )
})

test('what to look at follows from the links of the environment and what their services do', async () => {
  const { t, ada } = withAda(testApp())
  const { id } = await anEnvironment(t, ada)
  const own = findOwnEnvironment(t.db, { id, ownerId: ada.user.id })
  const why = (...lines: string[]) => whyUnreached(t.deps, { ...own, lines })
  const compose = `services: {db: {${idle}, expose: [5432]}, other: {${idle}}}`
  const service = await made(t, ada, compose, { name: 'main' })
  expect(why('connect ECONNREFUSED 127.0.0.1:5432')).toContain('isn’t linked to any service')
  expect(why('getaddrinfo ENOTFOUND main')).toContain(
    'That is your service main, which the environment isn’t linked to.',
  )

  await ada.post(`/envs/${id}/links`, { serviceId: service.id })
  expect(why('connect ECONNREFUSED 127.0.0.1:5432')).toContain(
    'That is the app’s own container, where no service runs. It is linked to main. Connect with the variables that they provide: MAIN_HOST, MAIN_PORT.',
  )
  const container = await t.docker.inspectContainer(service.containers[0].id)
  const [address] = Object.values(container!.addresses)
  for (const host of ['main', 'main-other', address])
    expect(why(`server at "${host}", port 1 failed`)).toContain('main runs. Check the port')
  await ada.post(`/envs/${id}/variables`, { key: 'MAIN_HOST', value: 'elsewhere' })
  expect(why('getaddrinfo ENOTFOUND elsewhere')).toContain(
    'MAIN_HOST is set by hand and overrides the one from the link to main.',
  )
  updateService(t.db, service.id, { status: 'stopped' })
  for (const line of ['getaddrinfo ENOTFOUND main', 'socket.gaierror'])
    expect(why(line)).toContain('The service main is stopped. Start it, then deploy again.')
  expect(why('no such table')).toBeNull()
})

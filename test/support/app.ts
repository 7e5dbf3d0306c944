import { onTestFinished } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { insertUser } from '../../src/accounts/store.ts'
import { createApp } from '../../src/app.tsx'
import { assemble } from '../../src/assemble.ts'
import type { Overrides } from '../../src/assemble.ts'
import { parseConfig } from '../../src/config.ts'
import type { Config } from '../../src/config.ts'
import { givenImages } from '../../src/db/schema.ts'
import type { Deps } from '../../src/assemble.ts'
import { connectDocker } from '../../src/docker/index.ts'
import type { Docker } from '../../src/docker/index.ts'
import { labelFilter } from '../../src/docker/labels.ts'
import { Secrets } from '../../src/platform/secrets.ts'
import { atOnce, realClock } from '../interleavings/engine/at-once.ts'
import { fakeDocker } from '../interleavings/engine/docker.ts'
import { FakeEngine } from '../interleavings/engine/engine.ts'
import { TestClient } from './client.ts'
import { newDatabases } from './databases.ts'
import { removeFromEngine } from './remove-from-engine.ts'

export type TestApp = ReturnType<typeof testApp>

export type TestOverrides = Overrides & {
  config?: Partial<Config>
  /** With `simulatedApp`. */
  isSimulated?: boolean
  /** No job begins. */
  jobsWait?: boolean
  /** `afterAll` for one that a whole file uses. */
  atEnd?: (work: () => Promise<void>) => void
}

/**
 * The whole product on databases in memory, with the real engine and the real git, driven without a
 * socket. What a test leaves on the engine is removed when it ends. A call of the engine that is set on
 * `faults` stands in for the real one until it is deleted; `docker` stays the real engine.
 */
export function testApp(
  env: Record<string, string> = {},
  {
    config: settings,
    isSimulated = false,
    jobsWait = false,
    atEnd = onTestFinished,
    ...overrides
  }: TestOverrides = {},
) {
  const dataDir = mkdtempSync(join(tmpdir(), 'davit-test-'))
  const parsed = parseConfig({
    DAVIT_DATA_DIR: dataDir,
    DAVIT_EDGE: 'direct',
    DAVIT_ALLOW_LOCAL_REPOS: '1',
    DAVIT_ALLOW_HOSTS: '127.0.0.1',
    DAVIT_RATE_LIMIT: '100000',
    DAVIT_RATE_BURST: '100000',
    DAVIT_REQUEST_TIMEOUT: '90',
    ...env,
  })
  // On a busy machine, too, a request waits for its work to end, so that a test can read its result.
  const patient = env.DAVIT_REQUEST_TIMEOUT ? {} : { acceptTimeout: 60_000 }
  const config = { ...parsed, settleTime: 0, watchSeconds: 0, ...patient, ...settings }
  let hasMade = false
  /** Most tests make nothing on the engine, and need not ask it what is to be removed. */
  const noticed = (docker: Docker) =>
    wrapped(docker, (name, call) => (...args) => {
      hasMade ||= making.has(name)
      return call(...args)
    })
  const engine = new FakeEngine(realClock)
  const docker = isSimulated
    ? fakeDocker(engine, atOnce)
    : noticed(connectDocker({ host: process.env.DOCKER_HOST }))
  const faults: Partial<Docker> = {}
  const interposed = wrapped(
    overrides.docker ? noticed(overrides.docker) : docker,
    (name, call) =>
      (...args) =>
        ((faults[name] as Call | undefined) ?? call)(...args),
  )
  const deps = assemble(config, {
    secrets: new Secrets('a secret of the tests, 32 bytes long'),
    ...newDatabases(),
    setupCode: null,
    tryOut: async () => ({ hostKey: null }),
    listTarget: async () => [],
    ...(isSimulated && { lookup: async () => [] }), // no test waits for a registry that doesn't exist
    ...overrides,
    docker: interposed,
  })
  if (jobsWait) deps.jobs.wake = () => {}
  const app = createApp(deps)
  atEnd(async () => {
    await Promise.all([deps.jobs.stop(), deps.instanceTasks.stop(), deps.watches.stop()])
    if (hasMade) await removeFromEngine(docker, labelFilter(deps.instanceId))
    for (const { name } of deps.db.select().from(givenImages).all())
      await docker.removeImage(name, { force: true })
    rmSync(dataDir, { recursive: true, force: true })
  })
  return {
    ...deps,
    docker,
    engine,
    faults,
    deps,
    app,
    dataDir,
    logIn: (email: string) => logIn(deps, app, email, 'member'),
    logInAsAdmin: (email = 'root@example.com') => logIn(deps, app, email, 'admin'),
  }
}

/** The product on the simulated engine: for what decides, where nothing depends on what Docker does. */
export const simulatedApp = (env?: Record<string, string>, overrides?: TestOverrides) =>
  testApp(env, { ...overrides, isSimulated: true })

/** Adds its first member, with a client. */
export const withAda = <App extends { logIn: TestApp['logIn'] }>(t: App) => ({
  t,
  ada: t.logIn('ada@example.com'),
})

export const withRoot = <App extends { logInAsAdmin: TestApp['logInAsAdmin'] }>(t: App) => ({
  t,
  root: t.logInAsAdmin(),
})

/** A client with a session of a new user, who has no password to be asked for. */
function logIn(deps: Deps, app: TestApp['app'], email: string, role: 'member' | 'admin') {
  const user = insertUser(deps.db, { email, name: null, passwordHash: null, role })
  return new TestClient(deps, app, user)
}

const making = new Set(['buildImage', 'createContainer', 'createNetwork', 'createVolume'])

type Call = (...args: unknown[]) => unknown

/** The engine with something around each of its calls. */
/** What stands between Davit and an engine, for each call. */
export type Interposed = (name: keyof Docker, call: Call) => Call

export const wrapped = (docker: Docker, wrap: Interposed) =>
  Object.fromEntries(
    Object.entries(docker).map(([name, call]) => [
      name,
      typeof call === 'function' ? wrap(name as keyof Docker, call as Call) : call,
    ]),
  ) as Docker

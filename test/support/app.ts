import { onTestFinished } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { insertUser } from '../../src/accounts/store.ts'
import { createApp } from '../../src/app.tsx'
import { parseConfig } from '../../src/config.ts'
import { Conditions } from '../../src/containers/conditions.ts'
import { UsagePoller } from '../../src/containers/usage/poller.ts'
import { LiveLogs } from '../../src/containers/live-logs.ts'
import { PruneRuns } from '../../src/containers/clean-up/runs.ts'
import { openDatabase, openLogDatabase } from '../../src/db/index.ts'
import { givenImages } from '../../src/db/schema.ts'
import { openInstallation } from '../../src/db/installation.ts'
import type { Deps } from '../../src/deps.ts'
import { DeploymentQueue } from '../../src/deployments/queue.ts'
import { connectDocker, EngineFeed } from '../../src/docker/index.ts'
import { connectGit } from '../../src/git/git.ts'
import { Hub } from '../../src/live/hub.ts'
import { Collector } from '../../src/logs/collector.ts'
import { Masks } from '../../src/logs/masks.ts'
import { labelFilter } from '../../src/docker/labels.ts'
import { Secrets } from '../../src/platform/secrets.ts'
import { secretsOfService } from '../../src/services/secrets-of-service.ts'
import { ServiceRunner } from '../../src/services/runner.ts'
import { Streams } from '../../src/web/streams.ts'
import { TestClient } from './client.ts'
import { removeFromEngine } from './remove-from-engine.ts'

export type TestApp = ReturnType<typeof testApp>

/**
 * The whole product on databases in memory, with the real engine and the real git, driven without a
 * socket. What a test leaves on the engine is removed when it ends.
 */
export function testApp(env: Record<string, string> = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'davit-test-'))
  const config = parseConfig({
    DAVIT_DATA_DIR: dataDir,
    DAVIT_ALLOW_LOCAL_REPOS: '1',
    DAVIT_ALLOW_HOSTS: '127.0.0.1',
    DAVIT_RATE_LIMIT: '100000',
    DAVIT_RATE_BURST: '100000',
    DAVIT_SETTLE_TIME: '1',
    ...env,
  })
  const secrets = new Secrets('a secret of the tests, 32 bytes long')
  const db = openDatabase(':memory:')
  const { docker, hasMade } = noticing(connectDocker({ host: process.env.DOCKER_HOST }))
  const deps: Deps = {
    config,
    db,
    logDb: openLogDatabase(':memory:'),
    secrets,
    docker,
    feed: new EngineFeed(),
    conditions: new Conditions(),
    pruneRuns: new PruneRuns(() => deps),
    usage: new UsagePoller(() => deps),
    liveLogs: new LiveLogs(() => deps),
    git: connectGit(config),
    logs: new Hub(),
    collector: new Collector(() => deps),
    masks: new Masks(() => deps),
    queue: new DeploymentQueue(() => deps),
    runner: new ServiceRunner((id) => deps.serviceEvents.publish(id, { pulled: true })),
    serviceEvents: new Hub(),
    serviceSecrets: (id, env) => secretsOfService(deps, id, env),
    streams: new Streams(config.streamsPerUser),
    instanceId: openInstallation(db, secrets),
    setupCode: null,
  }
  const app = createApp(deps)
  onTestFinished(async () => {
    await deps.queue.stop()
    await deps.runner.stop()
    await deps.pruneRuns.stop()
    if (deps.docker !== docker || hasMade())
      await removeFromEngine(docker, labelFilter(deps.instanceId))
    for (const { name } of db.select().from(givenImages).all())
      await docker.removeImage(name, { force: true })
    rmSync(dataDir, { recursive: true, force: true })
  })
  return {
    ...deps,
    deps,
    app,
    dataDir,
    logIn: (email: string) => logIn(deps, app, email, 'member'),
    logInAsAdmin: (email = 'root@example.com') => logIn(deps, app, email, 'admin'),
  }
}

/** A client with a session of a new user, who has no password to be asked for. */
function logIn(deps: Deps, app: TestApp['app'], email: string, role: 'member' | 'admin') {
  const user = insertUser(deps.db, { email, name: null, passwordHash: null, role })
  return new TestClient(deps, app, user)
}

const making = ['buildImage', 'createContainer', 'createNetwork', 'createVolume'] as const

/** Most tests make nothing on the engine, and need not ask it what is to be removed. */
function noticing(docker: Deps['docker']) {
  let made = false
  const noticed = { ...docker }
  for (const name of making) {
    const call = docker[name] as (...args: unknown[]) => unknown
    Object.assign(noticed, { [name]: (...args: unknown[]) => ((made = true), call(...args)) })
  }
  return { docker: noticed, hasMade: () => made }
}

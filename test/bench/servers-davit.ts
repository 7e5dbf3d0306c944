/* Davit with 50 simulated servers and 1,000 containers on them, as a server of its own; prints where it is. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { insertUser } from '../../src/accounts/store.ts'
import { createApp } from '../../src/app.tsx'
import { assemble } from '../../src/assemble.ts'
import { parseConfig } from '../../src/config.ts'
import { watchContainers } from '../../src/containers/crash-loop.ts'
import { sampleUsage } from '../../src/containers/usage/sampler.ts'
import { resume } from '../../src/serve.ts'
import { connect, fillFleet, fleetEngines } from '../servers/fleet-engines.ts'
import { aSession } from '../support/session.ts'

const [servers, apps, replicas] = process.argv.slice(2).map(Number) as [number, number, number]
const config = parseConfig({
  DAVIT_DATA_DIR: mkdtempSync(join(tmpdir(), 'davit-bench-servers-')),
  ...{ DAVIT_EDGE: 'direct', DAVIT_RATE_LIMIT: '1000000', DAVIT_RATE_BURST: '1000000' },
})
const engines = fleetEngines(servers)
const [docker, ...otherEngines] = engines.map(connect)
const deps = assemble(config, { docker: docker!, otherEngines, setupCode: null })
const ada = { email: 'ada@example.com', name: null, passwordHash: '', role: 'admin' } as const
const ownerId = insertUser(deps.db, ada).id
const { instanceId } = deps
const live = fillFleet(deps.db, { instanceId, ownerId, engines, apps, replicas })
Bun.unsafe.setJITPolicy(10) // as `serve` does
const app = createApp(deps)
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: (request) => app.fetch(request, {}),
})
const { signal } = new AbortController()
void Promise.all([
  ...resume(deps, { signal }),
  watchContainers(deps, { signal }),
  deps.collector.run({ signal }),
  sampleUsage(deps, { signal }),
])
const ids = engines.flatMap(({ containers }) => [...containers.keys()])
while (!ids.every((id) => deps.observed.condition(id))) await Bun.sleep(100)
const cookie = `svc_session=${aSession(deps, ownerId)}`
process.stdout.write(`${JSON.stringify({ url: String(server.url), cookie, app: live[7] })}\n`)

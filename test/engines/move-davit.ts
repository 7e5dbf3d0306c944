import { join } from 'node:path'
import { openDatabase, openLogDatabase } from '../../src/db/index.ts'
import { connectDocker } from '../../src/docker/index.ts'
import { getMove } from '../../src/runtime/move-store.ts'
import { pinnedTo } from '../../src/runtime/pins.ts'
import { resume } from '../../src/serve.ts'
import { made } from '../services/instances.ts'
import { testApp } from '../support/app.ts'
import { serverId, storeServers } from '../support/servers.ts'
import { until } from '../support/until.ts'

// A Davit that moves a service and is killed, and the next one: see move.ts.

const [folder, phase] = process.argv.slice(2) as [string, 'move' | 'resume']
const others = [process.env.SECOND, process.env.THIRD].map((host, at) =>
  connectDocker({ host: host!, serverId: serverId(at + 2) }),
)
const db = openDatabase(join(folder, 'state.db'))
const logDb = openLogDatabase(join(folder, 'logs.db'))
const env = { DAVIT_RESTIC_IMAGE: process.env.DAVIT_RESTIC_IMAGE! }
const t = testApp(env, { db, logDb, otherEngines: others, atEnd: () => {} })
const { signal } = new AbortController()
const second = others[0]!

const sumIn = (id: string, docker = second) =>
  docker
    .runInContainer(id, { command: ['cat', '/data/sum'], signal })
    .then(({ output }) => output.trim())

const compose = `
services:
  one:
    image: busybox
    init: true
    command: [sh, -c, 'until [ -e /data/sum ]; do sleep 1; done; sleep 99999']
    healthcheck: { test: [CMD, test, -e, /data/ready], interval: 1s, retries: 300 }
    volumes: ["data:/data"]
    stop_grace_period: 1s
volumes: { data: {} }
`

if (phase === 'move') {
  storeServers(db, [{}, {}, {}], (n) => `198.19.0.${10 + n}`)
  for (const docker of others) void t.serverEngines.watch(t.feed, docker, { signal })
  const ada = t.logIn('ada@example.com')
  const filling = until(async () => {
    const [one] = await second.listContainers({ labels: ['davit.kind=service'] })
    if (!one) return false
    const script =
      'cd /data && dd if=/dev/urandom of=big bs=1M count=96 2>/dev/null && sha256sum big > sum && touch ready'
    await second.runInContainer(one.id, { command: ['sh', '-c', script], signal })
    await Bun.write(join(folder, 'sum'), await sumIn(one.id))
    return true
  }, 200)
  const placement = { server: 'server2' }
  const [service] = await Promise.all([made(t, ada, compose, { placement }), filling])
  if (service.status !== 'running') throw new Error(JSON.stringify(service))
  await ada.post(`/services/${service.id}/move`, { server: 'server3' })
  await t.jobs.idle()
  throw new Error('It was moved before it was killed.')
}

const stop = new AbortController()
const background = resume(t.deps, { signal: stop.signal })
const { id } = db.$client.query('SELECT id FROM services').get() as { id: string }
const labels = [`davit.service=${id}`]
await until(async () => {
  await t.jobs.idle()
  const { leftOn, leftUntil, status } = getMove(db, id)!
  const isKept = status === 'failed' && leftUntil !== null // it was killed once the new one had started
  const running = await Promise.all(others.map((docker) => docker.listContainers({ labels })))
  return (
    running.flat().length === 1 &&
    leftOn === (pinnedTo(db, id) === serverId(3) ? serverId(2) : isKept ? serverId(3) : null)
  )
}, 300)
const running = await Promise.all(others.map((docker) => docker.listContainers({ labels })))
const sums: string[] = []
for (const [at, found] of running.entries())
  for (const one of found) {
    const command = ['sh', '-c', 'cd /data && sha256sum big']
    const { output } = await others[at]!.runInContainer(one.id, { command, signal })
    sums.push(output.trim())
  }
const backups = { labels: [`davit.instance=${t.instanceId}`, 'davit.kind=backup'], all: true }
const carriers = await Promise.all([t.docker, ...others].map((one) => one.listContainers(backups)))
console.log(
  JSON.stringify({
    up: running.map(({ length }) => length),
    pinned: pinnedTo(db, id),
    status: getMove(db, id)!.status,
    wrote: await Bun.file(join(folder, 'sum')).text(),
    ...{ sums, carriers: carriers.flat().length },
  }),
)
for (const docker of [t.docker, ...others]) {
  const all = { labels: [`davit.instance=${t.instanceId}`], all: true }
  for (const one of await docker.listContainers(all))
    await docker.removeContainer(one.id, { force: true, volumes: true })
  for (const { name } of await docker.listVolumes(all)) await docker.removeVolume(name)
}
stop.abort()
await Promise.allSettled(background)
process.exit(0)

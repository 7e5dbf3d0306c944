import { connectDocker } from '../../src/docker/index.ts'
import { freePort } from '../support/free-port.ts'
import { aSite, anEdgeOfItsOwn } from '../load/site.ts'
import { caddyImage } from '../support/images/edge.ts'
import { anInstallation } from '../support/installation.ts'
import { until } from '../support/until.ts'
import { inTurns } from './ratio.ts'
import type { Row } from './ratio.ts'
import { ensureWrk, wrk } from './wrk.ts'

const pairs = 7

/** Requests through Davit's edge, through a Caddy that was configured by hand for this app, and to the app. */
export async function benchEdge(_: string, executable: string): Promise<Row[]> {
  await ensureWrk()
  const { settings, ...ports } = await anEdgeOfItsOwn()
  const davit = anInstallation({ command: [executable, 'serve'] }, settings)
  try {
    await davit.start()
    const { place } = await aSite(davit, { ports })
    const app = await addressOf(davit)
    await using plain = await aCaddyByHand({ host: place.plainHost, app })
    await using logging = await aCaddyByHand({ host: place.plainHost, app, logs: '/data/log' })
    const at = (address: string) => () => wrk(`http://${address}/health`, { host: place.plainHost })
    const values = await inTurns(pairs, {
      byHand: at(`127.0.0.1:${plain.port}`),
      logging: at(`127.0.0.1:${logging.port}`),
      edge: at(`127.0.0.1:${place.http}`),
      app: at(app),
    })
    const perSecond = (from: keyof typeof values) => values[from].map((one) => one.perSecond)
    const p99 = (from: keyof typeof values) => values[from].map((one) => one.p99)
    const byHand = 'the same Caddy by hand, one literal address'
    const row = (floor: keyof typeof values, against: string, aim: string): Row => ({
      ...{ what: 'requests through the edge', against, unit: 'requests/s', aim },
      ...{ davit: perSecond('edge'), floor: perSecond(floor) },
    })
    return [
      row('byHand', byHand, '≥ 0.85'),
      {
        ...{ what: 'the same: 99th percentile', against: byHand, unit: 'ms', aim: '≤ 1.2' },
        ...{ davit: p99('edge'), floor: p99('byHand') },
      },
      row('logging', 'the same, with an access log as the edge has one', '–'),
      row('app', 'the app itself', '–'),
    ]
  } finally {
    await davit.leave()
  }
}

async function addressOf(davit: ReturnType<typeof anInstallation>) {
  const labels = [...davit.labels(), 'davit.kind=app']
  const [found] = await davit.docker.listContainers({ labels })
  const container = await davit.docker.inspectContainer(found!.id)
  return `${Object.values(container!.addresses)[0]}:8080`
}

/** As its documentation has it: one host, one address. */
async function aCaddyByHand({
  host,
  app,
  logs = null,
}: {
  host: string
  app: string
  logs?: string | null
}) {
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  const port = freePort()
  const proxy = { handler: 'reverse_proxy', upstreams: [{ dial: app }] }
  const site = {
    listen: [`:${port}`],
    ...(logs && { logs: {} }),
    automatic_https: { disable: true },
    routes: [{ match: [{ host: [host] }], handle: [proxy] }],
  }
  const access = { writer: { output: 'file', filename: logs }, include: ['http.log.access'] }
  const config = {
    admin: { disabled: true },
    apps: { http: { servers: { site } } },
    ...(logs && { logging: { logs: { default: { exclude: ['http.log.access'] }, access } } }),
  }
  const id = await docker.createContainer({
    name: `bench-${Bun.randomUUIDv7()}`,
    image: caddyImage,
    entrypoint: ['caddy'],
    command: ['run', '--config', '/caddy.json'],
    env: { GOMEMLIMIT: '256MiB', HOME: '/data', XDG_CONFIG_HOME: '/data', XDG_DATA_HOME: '/data' },
    labels: { 'test.caddy': '' },
    network: 'host',
    memoryBytes: 768 * 2 ** 20,
    cpus: (await docker.info()).cpus,
    pidsLimit: 512,
    granted: { hostNetwork: true },
  })
  const remove = async () => void (await docker.removeContainer(id, { force: true, volumes: true }))
  try {
    const files = [{ path: 'caddy.json', content: JSON.stringify(config), mode: 0o644 }]
    await docker.putArchive(id, { path: '/', files })
    await docker.startContainer(id)
    const headers = { Host: host }
    await until(async () => {
      const response = await fetch(`http://127.0.0.1:${port}/health`, { headers }).catch(() => null)
      return response?.ok === true
    })
  } catch (error) {
    await remove()
    throw error
  }
  return { port, [Symbol.asyncDispose]: remove }
}

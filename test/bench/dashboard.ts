import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startDavit } from '../support/davit.ts'
import { compileBareHono } from './bare-hono-executable.ts'
import { makeInstallation } from './installation.ts'
import type { Installation, Size } from './installation.ts'
import { inPairs } from './ratio.ts'
import type { Row } from './ratio.ts'
import { timeToReady } from './start.ts'
import { load } from './wrk.ts'

const pairs = 7
const small = { projects: 50, deployments: 1000, logLines: 10_000 }
const large = { projects: 2000, deployments: 100_000, logLines: 5_000_000 }

const named = ({ projects, deployments }: Size) =>
  `dashboard, ${projects} projects, ${deployments} deployments`

/** The page after the login over 16 connections, against a page of three words on the same server. */
export async function benchDashboard(directory: string, executable: string): Promise<Row> {
  const server = await startWith(directory, executable, small)
  const bare = await startBare(directory)
  try {
    await server.load()
    const values = await inPairs(pairs, {
      davit: async () => (await server.load()).perSecond,
      floor: async () => (await load(bare.url)).perSecond,
    })
    return {
      ...{ what: named(small), against: 'a bare Hono page on Bun', unit: 'requests/s' },
      ...{ ...values, aim: '≥ 0.25', peer: '0.002' },
    }
  } finally {
    await server.stop()
    await bare.stop()
  }
}

/** The same page where much has been kept, against the page where little has. */
export async function benchLargeDashboard(directory: string, executable: string): Promise<Row[]> {
  const [big, little] = [install(directory, large), install(directory, small)]
  const starts = await inPairs(pairs, {
    davit: () => timeToReady({ ...big, command: [executable] }),
    floor: () => timeToReady({ ...little, command: [executable] }),
  })
  const servers = { big: await start(big, executable), little: await start(little, executable) }
  const latencies: number[] = []
  try {
    await servers.big.load()
    await servers.little.load()
    const values = await inPairs(pairs, {
      davit: async () => {
        const { perSecond, p95 } = await servers.big.load()
        latencies.push(p95)
        return perSecond
      },
      floor: async () => (await servers.little.load()).perSecond,
    })
    const what = `${named(large)}, ${large.logLines} lines of log`
    const against = `itself, with ${small.projects} and ${small.deployments}`
    return [
      { what, against, unit: 'requests/s', ...values, aim: '≥ 0.90' },
      {
        ...{ what: `${what}: 95th percentile`, against: '200 ms', unit: 'ms' },
        ...{ davit: latencies, floor: latencies.map(() => 200), aim: '< 1' },
      },
      { what: `${what}: start`, against, unit: 'ms', ...starts, aim: '< 2000 ms' },
    ]
  } finally {
    await servers.big.stop()
    await servers.little.stop()
  }
}

const startWith = (directory: string, executable: string, size: Size) =>
  start(install(directory, size), executable)

function install(directory: string, size: Size): Installation & { directory: string } {
  const fresh = join(directory, Bun.randomUUIDv7())
  mkdirSync(fresh)
  return { directory: fresh, ...makeInstallation(fresh, size) }
}

async function start({ directory, env, cookie }: ReturnType<typeof install>, executable: string) {
  const davit = await startDavit({ directory, command: [executable], env })
  const url = `${davit.url}/dashboard`
  const first = await fetch(url, { headers: { Cookie: cookie } })
  const [csrf] = first.headers.getSetCookie().map((text) => text.split(';')[0])
  if (!(await first.text()).includes('<bdi>project '))
    throw new Error('The dashboard does not show the projects')
  const headers = [`Cookie: ${cookie}; ${csrf}`, 'Accept: text/html']
  return { load: () => load(url, { headers }), stop: davit.stop }
}

async function startBare(directory: string) {
  const command = [await compileBareHono(directory)]
  return startDavit({ directory, command })
}

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startDavit } from '../support/davit.ts'
import { makeInstallation } from './installation.ts'
import type { Installation, Size } from './installation.ts'
import { inPairs, percentile } from './ratio.ts'
import type { Row } from './ratio.ts'
import { timeToReady } from './start.ts'

const pairs = 7
const small = { projects: 50, deployments: 1000, logLines: 10_000 }
const large = { projects: 2000, deployments: 100_000, logLines: 5_000_000 }

/** Pages that one reader loads for one figure, one after the other. */
const loads = 200

/** Milliseconds in which a page begins at once. */
const aim = 100

/** The page after the login where little and where much has been kept: its first byte, and the start. */
export async function benchDashboard(directory: string, executable: string): Promise<Row[]> {
  const [big, little] = [install(directory, large), install(directory, small)]
  const starts = await inPairs(pairs, {
    davit: () => timeToReady({ ...big, command: [executable] }),
    floor: () => timeToReady({ ...little, command: [executable] }),
  })
  const servers = { big: await start(big, executable), little: await start(little, executable) }
  try {
    for (const { firstByte } of Object.values(servers)) await firstByte() // warm
    const values = await inPairs(pairs, {
      davit: servers.big.firstByte,
      floor: servers.little.firstByte,
    })
    return [
      rowOf(small, values.floor),
      rowOf(large, values.davit),
      {
        ...{ what: `${named(large)}: start`, unit: 'ms', aim: '< 2000 ms' },
        ...{ against: `itself, with ${small.projects} and ${small.deployments}`, ...starts },
      },
    ]
  } finally {
    await servers.big.stop()
    await servers.little.stop()
  }
}

const named = ({ projects, deployments, logLines }: Size) =>
  `dashboard, ${projects} projects, ${deployments} deployments, ${logLines} lines of log`

const rowOf = (size: Size, values: number[]): Row => ({
  ...{ what: `${named(size)}: first byte, 95th percentile`, against: `${aim} ms`, unit: 'ms' },
  ...{ davit: values, floor: values.map(() => aim), aim: '≤ 1' },
})

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
  const headers = { Cookie: `${cookie}; ${csrf}`, Accept: 'text/html' }

  /** Milliseconds until the first byte of the page's body, at the 95th percentile. */
  async function firstByte() {
    const times: number[] = []
    for (let load = 0; load < loads; load++) {
      const from = performance.now()
      const reader = (await fetch(url, { headers })).body!.getReader()
      let { value, done } = await reader.read()
      times.push(performance.now() - from)
      let text = ''
      for (; !done; { value, done } = await reader.read()) text += new TextDecoder().decode(value)
      if (!text.includes('<bdi>project ')) throw new Error('The dashboard shows no projects')
    }
    return percentile(times, 0.95)
  }
  return { firstByte, stop: davit.stop }
}

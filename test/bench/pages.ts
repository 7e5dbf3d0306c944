import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startDavit } from '../support/davit.ts'
import { makeInstallation } from './installation.ts'
import { percentile } from './ratio.ts'
import type { Row } from './ratio.ts'

const size = { projects: 100, deployments: 5000, logLines: 200_000 }

/** Loads of a page for one figure, one after the other, and how many figures. */
const loads = 50
const rounds = 5

/** Milliseconds in which a page begins at once. */
const aim = 100

const id = (kind: number, n: number) =>
  `01900000-000${kind}-7000-8000-${n.toString(16).padStart(12, '0')}`

const project = `/projects/${id(1, 5)}`

const pages = {
  login: '/auth/login',
  dashboard: '/dashboard',
  project,
  environment: `${project}/envs/${id(2, 5)}`,
  deployment: `${project}/deployments/${id(3, 4905)}`,
  services: '/services',
  containers: '/containers',
  map: '/map',
  API: '/api',
}

/** The first byte of pages, compressed, among 100 projects. */
export async function benchPages(directory: string, executable: string): Promise<Row[]> {
  const fresh = join(directory, Bun.randomUUIDv7())
  mkdirSync(fresh)
  const { env, cookie } = makeInstallation(fresh, size)
  const davit = await startDavit({ directory: fresh, command: [executable], env })
  const rows: Row[] = []
  try {
    for (const [name, path] of Object.entries(pages)) {
      const headers = { Accept: 'text/html', ...(name !== 'login' && { Cookie: cookie }) }
      await firstByte(davit.url + path, headers) // warm
      const values: number[] = []
      for (let round = 0; round < rounds; round++) {
        const times: number[] = []
        for (let load = 0; load < loads; load++)
          times.push(await firstByte(davit.url + path, headers))
        values.push(percentile(times, 0.95))
      }
      rows.push({
        what: `page of ${name}, ${size.projects} projects: first byte, 95th percentile`,
        ...{ against: `${aim} ms`, unit: 'ms', aim: '≤ 1' },
        ...{ davit: values, floor: values.map(() => aim) },
      })
    }
    return rows
  } finally {
    await davit.stop()
  }
}

export async function firstByte(url: string, headers: Record<string, string>) {
  const from = performance.now()
  const answer = await fetch(url, { headers })
  if (answer.status !== 200) throw new Error(`${url} answers ${answer.status}`)
  const reader = answer.body!.getReader()
  await reader.read()
  const taken = performance.now() - from
  while (!(await reader.read()).done);
  return taken
}

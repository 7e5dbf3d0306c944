import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'node:path'
import { planIn } from '../../doctor/current.ts'
import { openExisting } from '../../db/index.ts'
import type { Db } from '../../db/index.ts'
import { connectDocker } from '../../docker/index.ts'
import type { Docker } from '../../docker/index.ts'
import { web } from '../../environments/processes.ts'
import { inOneLine } from '../../platform/terminal-text.ts'
import { listLiveInstances } from '../../runtime/store.ts'
import { asDavit } from '../accounts.ts'
import type { Layout } from '../layout.ts'
import { localEngine } from '../machine.ts'
import { configOf } from '../installed.ts'
import type { Visit } from './messages.ts'
import { listWorkloads } from '../store.ts'
import type { Work } from '../run.ts'

export async function withDatabase<Result>(
  layout: Layout,
  read: (db: Db) => Result | Promise<Result>,
): Promise<Result> {
  const path = join(configOf(layout).dataDir, 'davit.db')
  const db = asDavit(() => openExisting(path))
  using _ = db.$client
  return await read(db)
}

/** Sends a request to each app directly, without DNS and certificates. */
export const visitApps = (layout: Layout): Promise<Visit[]> =>
  withDatabase(layout, async (db) => {
    const docker = connectDocker(localEngine)
    const { hosts } = planIn(db, configOf(layout))
    const hostOf = (id: string) =>
      hosts.find(({ sites }) =>
        sites.some(({ target }) => 'slots' in target && target.slots === id),
      )?.name
    const visits: Visit[] = []
    for (const { id, kind, name, isRunning } of listWorkloads(db)) {
      const address = kind === 'app' && isRunning ? await addressOf({ db, docker }, id) : null
      if (address !== null)
        visits.push({ id, name, ...(await visit(address, hostOf(id) ?? new URL(address).host)) })
    }
    return visits
  })

/** The address of its first live instance; null without one. */
async function addressOf({ db, docker }: { db: Db; docker: Docker }, id: string) {
  const instances = listLiveInstances(db, id).filter(({ state }) => state === 'live')
  const instance = instances.find(({ component }) => component === web) ?? instances[0]
  if (!instance?.containerId || instance.port === null) return null
  const found = await docker.inspectContainer(instance.containerId)
  const [address] = Object.values(found?.addresses ?? {})
  return address === undefined ? null : `http://${address}:${instance.port}/`
}

/** Bytes of a response that are read. */
const most = 256 * 1024

async function visit(address: string, host: string): Promise<Omit<Visit, 'id' | 'name'>> {
  try {
    const signal = AbortSignal.timeout(10_000)
    const headers = { Host: host, 'User-Agent': 'davit move', Accept: 'text/html,*/*' }
    const answer = await fetch(address, { headers, redirect: 'manual', signal })
    const body = await beginningOf(answer)
    const title = /<title[^>]{0,200}>([^<]{0,200})/i.exec(body.toString('utf8'))?.[1]
    const isWhole = body.length < most
    return {
      status: answer.status,
      length: isWhole ? body.length : null,
      title: inOneLine(title ?? '').trim() || null,
    }
  } catch {
    return nothing
  }
}

async function beginningOf({ body }: Response) {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of body ?? []) {
    parts.push(part)
    length += part.length
    if (length >= most) break
  }
  return Buffer.concat(parts).subarray(0, most)
}

/** Keeps what is equal in two visits of the same app; the rest is null. */
export function stableOf(first: Visit[], second: Visit[]): Visit[] {
  return first.map((one) => {
    const again = second.find(({ id }) => id === one.id)
    return {
      ...one,
      length: one.length === again?.length ? one.length : null,
      title: one.title === again?.title ? one.title : null,
    }
  })
}

const nothing = { status: null, length: null, title: null }

/** Compares the responses of each app on both servers. The content of a page may have changed since. */
export function compareVisits(before: Visit[], after: Visit[]) {
  const alike: string[] = []
  const unlike: string[] = []
  const changed: string[] = []
  for (const { id, name, status, length, title } of before) {
    const now = after.find((one) => one.id === id) ?? nothing
    const is = now.status === null ? 'it doesn’t respond' : `its status is ${now.status}`
    if (status !== null && now.status !== status)
      unlike.push(`${name} responds differently there: ${is}${now.status ? `, not ${status}` : ''}`)
    else if (status !== null && title !== null && now.title !== title)
      changed.push(
        `${name}: status ${status}, but its title is “${now.title ?? ''}”, not “${title}”`,
      )
    else if (status !== null && length !== null && now.length !== length)
      changed.push(
        `${name}: status ${status}, but it sends ${now.length ?? 'more'} bytes, not ${length}`,
      )
    else alike.push(`${name}: status ${status ?? 'none'}`)
  }
  return { alike, unlike, changed }
}

/** Milliseconds that apps and services may take to start on the new server. */
const longestStart = 20 * 60_000

/** Resolves when all of them run. Returns what doesn't. */
export async function untilRunning(
  layout: Layout,
  expected: { id: string; name: string }[],
  { say, signal }: Work,
) {
  const shown = new Map<string, string>()
  for (const deadline = Date.now() + longestStart; ; await sleep(1_000, undefined, { signal })) {
    const states = await withDatabase(layout, listWorkloads)
    const found = expected.map((one) => ({
      ...one,
      now: states.find(({ id }) => id === one.id) ?? null,
    }))
    for (const { id, name, now } of found) {
      const state = now?.isRunning ? 'runs' : (now?.state ?? 'missing')
      if (shown.get(id) !== state && state !== 'running') say(`${name}: ${state}`)
      shown.set(id, state)
    }
    if (found.some(({ now }) => now && !now.isRunning && !now.isOver) && Date.now() < deadline)
      continue
    return found.flatMap(({ name, now }) =>
      now?.isRunning ? [] : [`${name} doesn’t run there: ${now?.state ?? 'it is missing'}`],
    )
  }
}

/** How often apps are probed until all respond as they did there, and milliseconds in between. */
const visits = { max: 9, pause: 5_000 }

export async function untilAlike(layout: Layout, before: Visit[], { say, signal }: Work) {
  for (let left = visits.max; ; await sleep(visits.pause, undefined, { signal })) {
    const found = compareVisits(before, await visitApps(layout))
    if (found.unlike.length === 0 || --left === 0) return found
    say(`waiting: ${found.unlike.join('; ')}`)
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { ownAddresses } from '../../domains/public-address.ts'
import { newId } from '../../db/new-id.ts'
import { Failure } from '../../platform/errors.ts'
import type { Work } from '../run.ts'
import { movedSettings } from './arrive.ts'
import { sendBackup, sendImages, sendVolumes } from './copy.ts'
import { dnsChanges, namesOf } from './dns.ts'
import { holdDavit } from './guard.ts'
import { readMove, writeMove } from './journal.ts'
import type { Sent } from './journal.ts'
import type { Visit } from './messages.ts'
import type { Group } from './contents.ts'
import type { MovePlan } from './plan.ts'
import { nameOf } from './remote.ts'
import type { Remote } from './remote.ts'
import { startStopped, stopAll } from './standstill.ts'
import { endHere, phaseThere, startHere, tookOver } from './undo.ts'
import { compareVisits, stableOf, visitApps, withDatabase } from './visit.ts'
import { neverAborted } from '../../platform/pause.ts'

export type Moved = {
  /** What doesn't run there, or responds with another status. */
  differences: string[]
  /** Apps that respond as they do here. */
  alike: string[]
  /** Apps whose pages have another title or length. */
  changed: string[]
  dns: Awaited<ReturnType<typeof dnsChanges>>
}

type Moving = { plan: MovePlan; remote: Remote; isFinal: boolean; work: Work }

/**
 * Copies everything to the new server and starts it there. A rehearsal leaves this
 * server running; a final move stops it for good once everything runs there. If
 * anything fails before that, both servers are restored.
 */
export async function runMove(moving: Moving): Promise<Moved> {
  const { plan, remote, work } = moving
  const { layout, destination, instanceId } = plan
  const moveId = newId()
  work.say(`Preparing ${nameOf(destination)}`)
  const [from = 'another server'] = ownAddresses()
  const settings = movedSettings(plan.settings)
  await remote.ask({ ask: 'begin', moveId, instanceId, from, settings })
  if (plan.images.length > 0) work.say('Sending images; everything keeps running here')
  await sendImages(remote, plan.images, work)
  const before = stableOf(await visitApps(layout), await visitApps(layout))
  try {
    work.say('Stopping Davit here until the data is copied')
    const journal = { phase: 'copying' as const, moveId, ...destination, at: Date.now() }
    writeMove(layout, 'sent', { ...journal, stopped: [] })
    await holdDavit(layout, work)
    await copyAll({ ...moving, plan: { ...plan, ...(await plan.look()) } })
    return await startThere(moving, before)
  } catch (error) {
    await putBack(moving, moveId)
    work.signal.throwIfAborted() // an abort is reported as such, not by the errors it caused
    throw error
  }
}

/** Restores both servers, unless the new one may have taken over. A failure here is only reported. */
async function putBack({ plan, remote, isFinal, work: { say } }: Moving, moveId: string) {
  const { layout, destination } = plan
  const phase = readMove(layout, 'sent')?.phase
  if (phase === 'deciding' || phase === 'moved') return
  const host = nameOf(destination)
  const calm = { say, signal: neverAborted() }
  const startHereAgain = () =>
    goOn({ layout }, calm).catch((error) =>
      say(`Not everything runs here: ${error.message} Fix that, then run davit move --undo.`),
    )
  if (phase && !isFinal) await startHereAgain()
  say(`Removing the copy from ${host}`)
  await remote.close()
  await phaseThere(layout, { ...destination, moveId }, calm).catch((error) =>
    say(`${host} can’t be reached; the copy is removed when Davit starts there: ${error.message}`),
  )
  if (phase && isFinal) await startHereAgain() // only after the copy is removed: nothing may run twice
}

/** From here on nothing else starts or stops containers. */
async function copyAll({ plan, remote, isFinal, work }: Moving) {
  const { layout, contents, images } = plan
  await sendImages(remote, images, work) // a deployment may just have ended
  const isThere = ({ id }: { id: string }) => !images.some((image) => image.id === id)
  for (const { id, tag } of contents.images.filter(isThere))
    if (tag !== null) await remote.ask({ ask: 'name', id, name: tag })
  if (isFinal) await stopEverything(plan, work)
  for (const group of plan.groups)
    if (group.volumes.length > 0) await copyGroup(group, { plan, remote, isFinal, work })
  const hasEdge = contents.containers.some(({ kind }) => kind === 'edge')
  await sendBackup(remote, { ...plan, hasEdge }, work)
  if (!isFinal) await goOn({ layout }, work)
}

async function startThere({ plan, remote, isFinal, work }: Moving, before: Visit[]) {
  work.say(`Starting Davit on ${nameOf(plan.destination)}`)
  await remote.ask({ ask: 'start' })
  const missing = await untilRunning(plan, remote, work)
  const { alike, unlike, changed } = await visitThere(before, remote, work)
  const differences = [...missing, ...unlike]
  if (isFinal && differences.length > 0) throw notAlike(differences)
  const dns = await dnsOf(plan, work)
  if (isFinal) await handOver(plan, remote, work)
  else await remote.ask({ ask: 'keep', isFinal })
  return { differences, alike, changed, dns }
}

async function goOn({ layout }: Pick<MovePlan, 'layout'>, work: Work) {
  await startHere(layout, work)
  work.say('Davit and everything else run here as before')
}

/** Ordered as they are started again: services first, Caddy last. */
async function stopEverything({ layout, contents }: MovePlan, work: Work) {
  const order = ['service', 'app', 'edge']
  const oldestFirst = contents.containers.toReversed()
  const ids = order.flatMap((kind) => oldestFirst.filter((one) => one.kind === kind))
  work.say('Stopping all apps and services here')
  await stopAll(
    layout,
    ids.map(({ id }) => id),
  )
}

async function copyGroup(group: Group, { plan, remote, isFinal, work }: Moving) {
  const { layout, contents } = plan
  const users = new Set(group.volumes.flatMap((volume) => volume.users))
  const own = contents.containers.map(({ id }) => id).toReversed()
  // a user may have mounted it elsewhere
  const others = [...users].filter((id) => !own.includes(id))
  if (!isFinal) work.say(`Stopping ${group.name} while it is copied`)
  await stopAll(layout, [...own.filter((id) => users.has(id)), ...others])
  await sendVolumes(remote, group, work)
  if (!isFinal) await startStopped(layout, work)
}

/** Milliseconds that apps and services may take to start on the new server. */
const patience = 20 * 60_000

/** Resolves when everything runs there that ran here. Returns what doesn't. */
async function untilRunning({ contents }: MovePlan, remote: Remote, { say, signal }: Work) {
  const expected = contents.groups.filter(({ isRunning }) => isRunning)
  const shown = new Map<string, string>()
  for (const deadline = Date.now() + patience; ; await sleep(1_000, undefined, { signal })) {
    const { states } = await remote.ask({ ask: 'running' })
    const found = expected.map((group) => ({
      ...group,
      now: states.find(({ id }) => id === group.id) ?? null,
    }))
    for (const { id, name, now } of found) {
      const state = now?.isRunning ? 'runs' : (now?.state ?? 'missing')
      if (shown.get(id) !== state && state !== 'running') say(`    ${name}: ${state}`)
      shown.set(id, state)
    }
    if (found.some(({ now }) => now && !now.isRunning && !now.isOver) && Date.now() < deadline)
      continue
    return found.flatMap(({ name, now }) =>
      now?.isRunning ? [] : [`${name} doesn’t run there: ${now?.state ?? 'it is missing'}`],
    )
  }
}

/** How often apps are probed there until all respond as they do here, and milliseconds in between. */
const visits = { most: 9, pause: 5_000 }

async function visitThere(before: Visit[], remote: Remote, { say, signal }: Work) {
  for (let left = visits.most; ; await sleep(visits.pause, undefined, { signal })) {
    const found = compareVisits(before, (await remote.ask({ ask: 'visit' })).visits)
    if (found.unlike.length === 0 || --left === 0) return found
    say(`    waiting: ${found.unlike.join('; ')}`)
  }
}

const notAlike = (differences: string[]) =>
  new Failure(
    'move_differs',
    `The new server doesn’t match this one: ${differences.join('; ')}.`,
    'Nothing was moved: this server runs again. A rehearsal, without --cut-over, leaves the copy running so that you can find out why.',
  )

/** Once the new server may have taken over, this one starts nothing by itself. */
async function handOver({ layout }: MovePlan, remote: Remote, work: Work) {
  const journal: Sent = { ...readMove(layout, 'sent')!, phase: 'deciding' }
  writeMove(layout, 'sent', journal)
  try {
    await remote.ask({ ask: 'keep', isFinal: true })
  } catch (error) {
    const signal = neverAborted() // too late to interrupt it
    if (await tookOver(layout, journal, { ...work, signal })) return
    writeMove(layout, 'sent', { ...journal, phase: 'copying' })
    throw error
  }
  await endHere(layout, journal, work)
}

async function dnsOf({ layout, config, facts, destination }: MovePlan, { signal }: Work) {
  const names = await withDatabase(layout, (db) => namesOf(db, config))
  const { publicAddresses } = config
  const here = publicAddresses.length > 0 ? publicAddresses : ownAddresses()
  const leading = { to: facts.addresses, here, newServer: nameOf(destination) }
  return dnsChanges(names, { ...leading, signal })
}

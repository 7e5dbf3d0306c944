import { ownAddresses } from '../../domains/public-address.ts'
import { newId } from '../../db/new-id.ts'
import { Failure } from '../../platform/errors.ts'
import { neverAborted } from '../../platform/pause.ts'
import type { Work } from '../run.ts'
import type { Group } from './contents.ts'
import { dnsChanges, namesOf } from './dns.ts'
import { holdDavit } from './guard.ts'
import { readMove, writeMove } from './journal.ts'
import type { Sent } from './journal.ts'
import type { Compared, Filling, Visit } from './messages.ts'
import type { MovePlan } from './plan.ts'
import { nameOf } from './remote.ts'
import type { Destination, Remote } from './remote.ts'
import { forgetRepository, repositoryId, repositoryKey } from './repository.ts'
import { movedSettings } from './settings.ts'
import { startStopped, stopAll } from './standstill.ts'
import { openSending } from './send.ts'
import { endHere, phaseThere, startHere, tookOver } from './undo.ts'
import { stableOf, visitApps, withDatabase } from './visit.ts'

export type Moved = Compared & { dns: Awaited<ReturnType<typeof dnsChanges>> }

type Moving = { plan: MovePlan; remote: Remote; isFinal: boolean; work: Work }
type Sending = ReturnType<typeof openSending>

const withVolumes = (groups: Group[]) => groups.filter(({ volumes }) => volumes.length > 0)

/**
 * Backs everything up to the new server and restores it there while it runs here, then what changed since while it
 * doesn't. A rehearsal leaves this server running; a final move stops it for good once everything runs there. If
 * anything fails before that, both servers are put back.
 */
export async function runMove(moving: Moving): Promise<Moved> {
  const { plan, remote, work } = moving
  const { layout, destination, instanceId, groups } = plan
  const moveId = newId()
  work.say(`Preparing ${nameOf(destination)}`)
  const [from = 'another server'] = ownAddresses()
  const settings = movedSettings(plan.settings)
  const password = repositoryKey(layout)
  const repository = repositoryId(password)
  await remote.ask({ ask: 'begin', moveId, instanceId, from, settings, repository, password })
  try {
    work.say('Sending images and volumes; everything keeps running here')
    const sending = openSending(plan, { moveId, remote, work })
    await sending.images(plan.contents)
    for (const group of withVolumes(groups)) await sending.prime(group)
    const before = stableOf(await visitApps(layout), await visitApps(layout))
    work.say('Stopping Davit here until what changed since is sent')
    const journal = { phase: 'copying' as const, moveId, ...destination, at: Date.now() }
    writeMove(layout, 'sent', { ...journal, stopped: [] })
    await holdDavit(layout, work)
    return await moveData({ ...moving, plan: { ...plan, ...(await plan.look()) } }, sending, before)
  } catch (error) {
    if (error instanceof Failure && error.code === 'target_damaged') forgetRepository(layout)
    await putBack(moving, moveId)
    work.signal.throwIfAborted() // an abort is reported as such, not by the errors it caused
    throw error instanceof Failure && error.code === 'target_full'
      ? full(destination, error)
      : error
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
    goOn(plan, calm).catch((error) =>
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
async function moveData(
  { plan, remote, isFinal, work }: Moving,
  sending: Sending,
  before: Visit[],
): Promise<Moved> {
  const { layout, contents, groups, destination } = plan
  await sending.images(contents) // a deployment may just have ended
  if (isFinal) await stopEverything(plan, work)
  const found = withVolumes(groups)
  const together = found.length === 0 ? [] : isFinal ? [found] : found.map((group) => [group])
  const volumes: Filling['volumes'] = []
  for (const some of together) {
    if (!isFinal) work.say(`Stopping ${some[0]!.name} while it is copied`)
    await stopUsers(some, plan)
    volumes.push(await sending.exactly(some))
    if (!isFinal) await startStopped(layout, work)
  }
  const passphrase = await sending.data()
  if (!isFinal) await goOn(plan, work)
  work.say(`Restoring it on ${nameOf(destination)}`)
  await sending.fill({ volumes, passphrase, isFinal })
  work.say(`Starting Davit on ${nameOf(destination)}`)
  const running = contents.groups.filter(({ isRunning }) => isRunning)
  const expected = running.map(({ id, name }) => ({ id, name }))
  const compared = await remote.ask({ ask: 'start', expected, before }, work.say)
  if (isFinal && compared.differences.length > 0) throw notAlike(compared.differences)
  const dns = await dnsOf(plan, work)
  if (isFinal) await handOver(plan, remote, work)
  else await remote.ask({ ask: 'keep', isFinal })
  return { ...compared, dns }
}

async function goOn({ layout }: MovePlan, work: Work) {
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

/** Those of others, too: a user may have mounted a volume elsewhere. */
async function stopUsers(groups: Group[], { layout, contents }: MovePlan) {
  const users = new Set(groups.flatMap(({ volumes }) => volumes.flatMap(({ users }) => users)))
  const own = contents.containers.map(({ id }) => id).toReversed()
  const others = [...users].filter((id) => !own.includes(id))
  await stopAll(layout, [...own.filter((id) => users.has(id)), ...others])
}

const full = (destination: Destination, { message }: Failure) =>
  new Failure(
    'disk_full',
    `A disk of ${nameOf(destination)} is full: ${message}`,
    'Use a larger one there, or leave volumes out with --without. Then run davit move again.',
  )

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

async function dnsOf({ layout, config, found, destination }: MovePlan, { signal }: Work) {
  const names = await withDatabase(layout, (db) => namesOf(db, config))
  const { publicAddresses } = config
  const here = publicAddresses.length > 0 ? publicAddresses : ownAddresses()
  const leading = { to: found.addresses, here, newServer: nameOf(destination) }
  return dnsChanges(names, { ...leading, signal })
}

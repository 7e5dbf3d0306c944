import { ownAddresses } from '../../domains/public-address.ts'
import { newId } from '../../db/new-id.ts'
import { Failure } from '../../platform/errors.ts'
import { neverAborted } from '../../platform/pause.ts'
import type { Work } from '../run.ts'
import { movedSettings } from './arrive.ts'
import type { Group } from './contents.ts'
import { dnsChanges, namesOf } from './dns.ts'
import { holdDavit } from './guard.ts'
import { readMove, writeMove } from './journal.ts'
import type { Sent } from './journal.ts'
import type { Compared, Visit } from './messages.ts'
import type { MovePlan } from './plan.ts'
import { nameOf } from './remote.ts'
import type { Remote } from './remote.ts'
import { forgetRepository, repositoryId, repositoryKey } from './repository.ts'
import { startStopped, stopAll } from './standstill.ts'
import { openVolumes, sendData, sendImages } from './transfer.ts'
import { endHere, phaseThere, startHere, tookOver } from './undo.ts'
import { stableOf, visitApps, withDatabase } from './visit.ts'

export type Moved = Compared & { dns: Awaited<ReturnType<typeof dnsChanges>> }

type Moving = { plan: MovePlan; remote: Remote; isFinal: boolean; work: Work }
type Volumes = ReturnType<typeof openVolumes>

const withVolumes = (groups: Group[]) => groups.filter(({ volumes }) => volumes.length > 0)

/**
 * Backs everything up to the new server while it runs, then what changed since while it doesn't, and restores it
 * there. A rehearsal leaves this server running; a final move stops it for good once everything runs there. If
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
  work.say('Sending images and volumes; everything keeps running here')
  await sendImages(plan, plan.contents, { remote, work })
  const volumes = openVolumes(plan, { moveId, work })
  for (const group of withVolumes(groups)) await volumes.prime(group)
  const before = stableOf(await visitApps(layout), await visitApps(layout))
  try {
    work.say('Stopping Davit here until what changed since is sent')
    const journal = { phase: 'copying' as const, moveId, ...destination, at: Date.now() }
    writeMove(layout, 'sent', { ...journal, stopped: [] })
    await holdDavit(layout, work)
    return await moveData({ ...moving, plan: { ...plan, ...(await plan.look()) } }, volumes, before)
  } catch (error) {
    if (error instanceof Failure && error.code === 'target_damaged') forgetRepository(layout)
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
  volumes: Volumes,
  before: Visit[],
): Promise<Moved> {
  const { layout, contents, groups, destination } = plan
  await sendImages(plan, contents, { remote, work }) // a deployment may just have ended
  if (isFinal) await stopEverything(plan, work)
  for (const group of withVolumes(groups)) {
    if (!isFinal) work.say(`Stopping ${group.name} while it is copied`)
    await stopUsers(group, plan)
    await volumes.storeExactly(group)
    if (!isFinal) await startStopped(layout, work)
  }
  const hasEdge = contents.containers.some(({ kind }) => kind === 'edge')
  const passphrase = await sendData(plan, { hasEdge, work })
  if (!isFinal) await goOn(plan, work)
  work.say(`Restoring it on ${nameOf(destination)}`)
  const password = repositoryKey(layout)
  const { snapshots } = volumes
  await remote.ask({ ask: 'fill', snapshots, password, passphrase }, work.say)
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
async function stopUsers({ volumes }: Group, { layout, contents }: MovePlan) {
  const users = new Set(volumes.flatMap((volume) => volume.users))
  const own = contents.containers.map(({ id }) => id).toReversed()
  const others = [...users].filter((id) => !own.includes(id))
  await stopAll(layout, [...own.filter((id) => users.has(id)), ...others])
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

async function dnsOf({ layout, config, found, destination }: MovePlan, { signal }: Work) {
  const names = await withDatabase(layout, (db) => namesOf(db, config))
  const { publicAddresses } = config
  const here = publicAddresses.length > 0 ? publicAddresses : ownAddresses()
  const leading = { to: found.addresses, here, newServer: nameOf(destination) }
  return dnsChanges(names, { ...leading, signal })
}

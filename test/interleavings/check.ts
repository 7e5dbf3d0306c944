import type { StoredRestore } from '../../src/db/schema.ts'
import { deployedImage } from '../../src/runtime/images/stack-store.ts'
import { checkWatches } from './watched.ts'
import { world } from './world.ts'
import type { Order } from './order.ts'

type Deployment = {
  id: string
  environment_id: string
  status: string
  container_id: string | null
  error_code: string | null
  image: string | null
}

type Instance = {
  id: string
  container_id: string | null
  workload_id: string
  component: string
  state: string
}

type Strictness = {
  /** After a start in calm weather nothing excuses anything. */
  isStrict: boolean
}

/** What does not hold now that all is quiet; empty when all is as it should be. */
export function faultsOf(order: Order, strictness: Strictness): string[] {
  const faults = [...order.complaints]
  const say = (fault: string) => void faults.push(fault)
  checkJobs(order, say)
  checkApps(order, say, strictness)
  checkEdge(order, say)
  checkWatches(order, say)
  checkServices(order, say, strictness)
  checkRuntime(order, say, strictness)
  checkLeftovers(order, say, strictness)
  checkBackups(order, say)
  checkJournal(say)
  return faults
}

type Say = (fault: string) => void

const rowsOf = <Row>({ installation }: Order, sql: string) => installation.rows<Row>(sql)

/** Nothing waits and nothing is at work. */
function checkJobs(order: Order, say: Say) {
  if (order.installation.pending > 0) say(`${order.installation.pending} requests have no answer`)
  for (const { id, status } of rowsOf<Deployment>(order, 'SELECT * FROM deployments'))
    if (['waiting', 'pending', 'cloning', 'building', 'deploying'].includes(status))
      say(`deployment ${id} is ${status} for ever`)
  for (const { id, status } of rowsOf<Deployment>(
    order,
    'SELECT id, status FROM services WHERE deleting_at IS NULL',
  ))
    if (['pulling', 'creating', 'starting'].includes(status))
      say(`service ${id} is ${status} for ever`)
  for (const { id, status } of rowsOf<Deployment>(
    order,
    'SELECT * FROM runs WHERE finished_at IS NULL',
  ))
    say(`run ${id} is ${status} for ever`)
  for (const { kind, status } of rowsOf<{ kind: string; status: string }>(
    order,
    'SELECT * FROM jobs',
  ))
    say(`a job (${kind}) is ${status} for ever`)
}

/** One deployment of an environment serves, in the containers that the database names. */
function checkApps(order: Order, say: Say, { isStrict }: Strictness) {
  const { engine, deps } = order.installation
  const isExcused = !isStrict && order.schedule.faults.errors > 0
  for (const { id, name } of rowsOf<{ id: string; name: string }>(
    order,
    'SELECT e.id, e.name FROM environments e JOIN projects p ON p.id = e.project_id WHERE e.deleting_at IS NULL AND p.deleting_at IS NULL',
  )) {
    const sql = `SELECT d.*, (SELECT container_id FROM instances WHERE release_id = d.id) AS container_id FROM deployments d WHERE environment_id = '${id}'`
    const deployments = rowsOf<Deployment>(order, sql)
    const current = deployments.filter(({ status }) => status === 'running' || status === 'stopped')
    if (current.length > 1) say(`${name} has ${current.length} current deployments`)
    const [serving] = current
    const instances = rowsOf<Instance>(
      order,
      `SELECT * FROM instances WHERE release_id = '${serving?.id}' AND state IN ('live', 'stopped', 'unhealthy')`,
    )
    const containers = instances.map((one) => engine.containers.get(one.container_id ?? ''))
    const runs = (container: (typeof containers)[number]) =>
      container !== undefined && ['running', 'restarting'].includes(container.state)
    if (serving) {
      const isTouched = instances.some((one) => order.touched.has(one.container_id ?? ''))
      const ofWeb = containers.filter((_, at) => instances[at]!.component === 'web')
      const isUp = (ofWeb.length > 0 ? ofWeb : containers).some(runs)
      const states = containers.map((container) => container?.state ?? 'not there').join(', ')
      if (isUp !== (serving.status === 'running') && !isExcused)
        say(`${name} is ${serving.status}, but its containers are ${states || 'not there'}`)
      if (!containers.every(runs) && !isTouched && !order.hadErrors)
        say(`${name} has ${states}, though nobody stopped any`)
      for (const container of containers)
        if (runs(container) && container?.policy.name === 'no')
          say(`${name} runs without a restart policy`)
    }
    if (isExcused) continue
    for (const one of engine.containers.values()) {
      const { labels = {} } = one.options
      if (labels['davit.instance'] !== deps.instanceId || labels['davit.environment'] !== id)
        continue
      if (!containers.includes(one) && !isKeptIn(order, one))
        say(`${name} has the container ${one.name} (${one.state}) left over`)
    }
  }
}

/** A stopped container of the release before, which a rollback starts again. */
const isKeptIn = (order: Order, { id, state }: { id: string; state: string }) =>
  state === 'exited' &&
  rowsOf(order, `SELECT * FROM instances WHERE container_id = '${id}' AND state = 'standby'`)
    .length > 0

/** No roll-out is under way, and the database knows each container, by what it does. */
function checkRuntime(order: Order, say: Say, { isStrict }: Strictness) {
  const { engine, deps } = order.installation
  for (const { id, next_release_id } of rowsOf<{ id: string; next_release_id: string | null }>(
    order,
    'SELECT * FROM workloads',
  ))
    if (next_release_id && isStrict) say(`the roll-out of ${id} has no end`)
  const instances = rowsOf<Instance>(order, "SELECT * FROM instances WHERE state <> 'removed'")
  for (const { container_id, state } of instances) {
    const container = engine.containers.get(container_id ?? '')
    const runs = container && ['running', 'restarting'].includes(container.state)
    if (!isStrict && order.schedule.faults.errors > 0) continue
    if (state === 'unhealthy' && container?.state === 'restarting') continue // without requests, until it stays up
    if (!['live', 'stopped', 'standby'].includes(state)) say(`an instance is ${state} for ever`)
    if (state === 'standby' && container && container.policy.name !== 'no')
      say('a kept container would be started after a reboot')
    if ((state === 'live') !== Boolean(runs))
      say(`an instance is ${state}, its container is ${container?.state ?? 'not there'}`)
  }
  const kept = rowsOf<{ count: number }>(
    order,
    "SELECT count(DISTINCT release_id) AS count FROM instances WHERE state = 'standby' GROUP BY workload_id",
  )
  if (kept.some(({ count }) => count > 1)) say('more than one release before is kept')
  const known = new Set(instances.map(({ container_id }) => container_id))
  for (const { id, name, options, state } of engine.containers.values())
    if (options.labels?.['davit.instance'] === deps.instanceId && !known.has(id) && isStrict)
      say(`the container ${name} (${state}) is in no row`)
}

/** Requests reach the instances that are live, and nothing else. */
function checkEdge({ installation }: Order, say: Say) {
  const { engine, led } = installation
  const kept = 'SELECT id FROM environments WHERE deleting_at IS NULL'
  const ids = installation.rows<{ id: string }>(kept).map(({ id }) => id)
  for (const [id, to] of led ?? []) {
    if (!ids.includes(id)) continue // what was deleted is forgotten by the next look of the edge
    const sql = `SELECT container_id, port FROM instances WHERE workload_id = '${id}' AND state = 'live' AND port IS NOT NULL`
    const live = installation
      .rows<{ container_id: string; port: number }>(sql)
      .flatMap(({ container_id, port }) => {
        const own = engine.containers.get(container_id)
        // not on the network that only the services of a Compose file share
        const address = own?.endpoints.get(own.options.network)?.address
        return address ? `${address}:${port}` : []
      })
    if (live.toSorted().join() !== to.toSorted().join())
      say(`requests for ${id} reach ${to.join(', ') || 'nothing'}, not ${live.join(', ')}`)
  }
}

/** The state of a service says what its containers do. */
function checkServices(order: Order, say: Say, { isStrict }: Strictness) {
  const { engine } = order.installation
  const isExcused = !isStrict && order.schedule.faults.errors > 0
  if (isExcused) return
  const sql = 'SELECT id, status, error_code FROM services WHERE deleting_at IS NULL'
  for (const { id, status, error_code } of rowsOf<Deployment>(order, sql)) {
    const own = [...engine.containers.values()].filter(
      ({ options }) => options.labels?.['davit.service'] === id,
    )
    const states = own.map(({ state }) => state)
    const seen = `the service is ${status} (${error_code ?? 'no error'}), its containers are ${states.join(', ') || 'none'}`
    const up = states.filter((state) => state === 'running').length
    if (status === 'running' && (up < states.length || up === 0)) say(seen)
    if (status === 'stopped' && up > 0) say(seen)
    const isTouched = own.some((container) => order.touched.has(container.id))
    if (status === 'stopped' && error_code === 'interrupted' && !isTouched && !order.hadErrors)
      say(`${seen}, though nobody stopped any`)
    if (status === 'failed' && own.length > 0) say(seen)
    if (
      status === 'unhealthy' &&
      up === states.length &&
      own.every((one) => one.health !== 'unhealthy')
    )
      say(seen)
  }
}

/** One that ended holds no container, and has all its snapshots or none. */
function checkBackups({ installation }: Order, say: Say) {
  const sql = 'SELECT id, status, files, held, restore FROM backups'
  type Row = Record<'id' | 'status' | 'files', string> & Record<'held' | 'restore', string | null>
  for (const { id } of installation.rows<{ id: string }>(
    "SELECT id FROM jobs WHERE kind = 'proof'",
  ))
    say(`the proof ${id} never ends`)
  const services = new Set(
    installation.rows<{ id: string }>('SELECT id FROM services').map((row) => row.id),
  )
  const known = installation.restic.snapshots
  for (const { id, status, files, held, restore } of installation.rows<Row>(sql)) {
    const restored = restore && (JSON.parse(restore) as StoredRestore)
    if (restored) {
      const { status, into } = restored
      if (['pending', 'running'].includes(status)) say(`a restore of ${id} is ${status} for ever`)
      if (into?.isNew && services.has(into.id) !== (status === 'succeeded'))
        say(
          `a restore of ${id} ${status}, and its service ${services.has(into.id) ? 'stays' : 'is gone'}`,
        )
    }
    if (['pending', 'running'].includes(status)) say(`backup ${id} is ${status} for ever`)
    if (held) say(`backup ${id} still holds ${held}`)
    const own = known.filter(({ tags }) => tags.includes(`backup=${id}`))
    const isDescribed = own.at(-1)?.paths.includes('/files/backup.json') ?? false
    const stored = own.filter(({ paths }) => paths.join() !== '/files/backup.json')
    const theirs = stored.map((one) => one.id).join()
    const its = JSON.parse(files).map(({ snapshot }: { snapshot: string }) => snapshot)
    if (theirs !== its.join() || its.length > 0 !== isDescribed)
      say(`backup ${id} (${status}) has ${its}, the target ${theirs}, described: ${isDescribed}`)
  }
}

function checkLeftovers(order: Order, say: Say, { isStrict }: Strictness) {
  const { engine, deps } = order.installation
  const ids = (table: string) =>
    new Set(rowsOf<{ id: string }>(order, `SELECT id FROM ${table}`).map(({ id }) => id))
  const [projects, environments, services, deployments] = [
    'projects',
    'environments',
    'services',
    'deployments',
  ].map(ids) as [Set<string>, Set<string>, Set<string>, Set<string>]
  if (isStrict)
    for (const table of ['projects', 'environments', 'services'])
      for (const { id } of rowsOf<{ id: string }>(
        order,
        `SELECT id FROM ${table} WHERE deleting_at IS NOT NULL`,
      ))
        say(`${table}: ${id} is still being deleted after a start`)
  const isGone = (labels: Record<string, string> = {}) => {
    if (labels['davit.instance'] !== deps.instanceId) return false
    const {
      'davit.project': project,
      'davit.environment': environment,
      'davit.service': service,
    } = labels
    return Boolean(
      (project && !projects.has(project)) ||
      (environment && !environments.has(environment)) ||
      (service && !services.has(service)),
    )
  }
  for (const { name, options, state } of engine.containers.values())
    if (isGone(options.labels)) say(`the container ${name} (${state}) is left of what was deleted`)
  for (const { name, labels } of engine.networks.values())
    if (isGone({ ...labels, 'davit.environment': '' }))
      say(`the network ${name} is left of what was deleted`)
  for (const { tags, labels } of engine.images.values())
    if (isGone(labels)) say(`the image ${tags} is left of what was deleted`)
    else if (isStrict && labels['davit.deployment'] && !deployments.has(labels['davit.deployment']))
      say(`the image ${tags} is left of a deployment that is gone`)
  const images = rowsOf<{ image: string }>(order, 'SELECT image FROM deployments')
  const kept = new Set(images.map(({ image }) => image))
  const tags = [...engine.images.values()].flatMap((image) => image.tags)
  for (const tag of tags)
    if (isStrict && tag.startsWith('davit/') && !kept.has(deployedImage(tag)))
      say(`the image ${tag} is in no row of a deployment`)
  const addresses = [...engine.containers.values()].flatMap(({ endpoints }) =>
    [...endpoints].flatMap(([name, { wanted }]) => (wanted ? `${wanted} on ${name}` : [])),
  )
  for (const [at, address] of addresses.entries())
    if (addresses.indexOf(address) < at) say(`two containers have the address ${address}`)
  const names = [...engine.networks.values()].map(({ name }) => name)
  if (new Set(names).size < names.length) say(`a network is there twice: ${names}`)
}

/** What Davit itself calls a bug, and no injected fault explains. */
function checkJournal(say: Say) {
  for (const line of world.journal) {
    if (!/"level":"error"|^background/.test(line)) continue
    if (/the order says|Killed|engine_unreachable|BuildError|No such container/.test(line)) continue
    say(`the journal says: ${line.slice(0, 600)}`)
  }
}

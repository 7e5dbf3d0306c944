import { stateOf } from '../apps/live.ts'
import type { LiveDeps } from '../apps/live.ts'
import type { Config } from '../config.ts'
import type { UsagePoller } from '../containers/usage/poller.ts'
import type { Db, LogDb } from '../db/index.ts'
import { describeCertificate } from '../domains/certificate-own.ts'
import { listProgress } from '../drains/progress.ts'
import { readInventory } from '../home/inventory.ts'
import type { Item } from '../home/inventory.ts'
import type { ServerMeter } from '../home/server.ts'
import { listLive } from '../map/store.ts'
import { pause } from '../platform/pause.ts'
import { version } from '../platform/root.ts'
import { listJobSubjects } from '../projects/store.ts'
import { listEver } from '../traffic/store.ts'
import { Tally } from '../traffic/tally.ts'
import { Exposition } from './exposition.ts'
import { families } from './families.ts'
import {
  countJobs,
  deploymentBounds,
  listBackups,
  listHosts,
  listOwners,
  sumDeployments,
} from './store.ts'

export type MetricDeps = LiveDeps & {
  db: Db
  logDb: LogDb
  config: Pick<Config, 'domain'>
  usage: Pick<UsagePoller, 'reading'>
  server: Pick<ServerMeter, 'read'>
  edge: { trouble: object | null }
}

export type Scope = {
  userId: string | null
  projectId: string | null
  hasServer: boolean
}

type Metrics = Exposition<keyof typeof families>
type Labels = Record<string, string>

/** Upper bounds of the durations of requests, in seconds. */
const requestBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const

/** Milliseconds after which a measurement says nothing about now. */
const outdated = 60_000

/** Reads what is stored and observed; nothing is measured for it. */
export async function collectMetrics(
  deps: MetricDeps,
  { userId, projectId, hasServer }: Scope,
  { isDockerUp }: { isDockerUp: () => Promise<boolean> },
) {
  const metrics: Metrics = new Exposition(families)
  metrics.add('build', { version }, 1)
  for (const owner of listOwners(deps.db, userId)) {
    const items = readInventory(deps, owner.id).filter(
      (item) => projectId === null || (item.kind === 'app' && item.app.projectId === projectId),
    )
    const labels = new Map(items.map((item) => [item.id, labelsOf(item, owner)]))
    for (const item of items)
      metrics.add('state', { ...labels.get(item.id), state: stateIn(item) }, 1)
    addContainers(deps, metrics, labels)
    await pause()
    addTraffic(deps, metrics, labels)
    await pause()
    addDeployments(deps, metrics, labels)
    addCertificates(deps, metrics, { items, labels })
    addBackups(deps, metrics, labels)
    addDrains(deps, metrics, labels)
    const of =
      projectId === null
        ? { ownerId: owner.id }
        : { subjectIds: listJobSubjects(deps.db, [...labels.keys()]) }
    addJobs(deps, metrics, of, { owner: owner.email })
    await pause()
  }
  if (hasServer) await addServer(deps, metrics, isDockerUp)
  return metrics
}

const labelsOf = (item: Item, { email }: { email: string }): Labels =>
  item.kind === 'app'
    ? { owner: email, project: item.app.project, environment: item.app.name }
    : { owner: email, service: item.name }

/** As on the dashboard, for example `crash_looping`. */
const stateIn = ({ look }: Item) => look.word.toLowerCase().replace(/\W+/g, '_')

function addContainers(deps: MetricDeps, metrics: Metrics, labels: Map<string, Labels>) {
  const { db, observed } = deps
  const live = listLive(db, [...labels.keys()])
  const byProcess = Map.groupBy(live, (one) => `${one.workloadId} ${one.process}`)
  for (const all of byProcess.values()) {
    const { workloadId, process } = all[0]!
    const of = { ...labels.get(workloadId), process }
    for (const [state, some] of Map.groupBy(all, (one) => stateOf(deps, one)))
      metrics.add('containers', { ...of, state }, some.length)
    const readings = all.flatMap((one) => readingOf(deps, one) ?? [])
    for (const name of ['memory', 'memoryLimit'] as const)
      metrics.add(name, of, sum(readings.map((reading) => reading[name])))
    // a total of several containers would fall whenever one of them is new, or couldn't be read
    for (const [slot, one] of new Map(all.map((one) => [one.slot, one]))) {
      const its = { ...of, replica: String(slot + 1) }
      const reading = readingOf(deps, one)
      const condition = one.containerId === null ? null : observed.condition(one.containerId)
      metrics.add('restarts', its, condition?.restartCount)
      metrics.add('cpu', its, reading && reading.cpuTotal / 1e9)
      for (const name of ['received', 'sent'] as const) metrics.add(name, its, reading?.[name])
    }
  }
}

/** Null without a current one. */
function readingOf(
  { usage }: Pick<MetricDeps, 'usage'>,
  { containerId }: { containerId: string | null },
) {
  const reading = containerId === null ? null : usage.reading(containerId)
  return reading && Date.now() - reading.readAt.getTime() < outdated ? reading : null
}

/** Null of none. */
const sum = (values: number[]) =>
  values.length === 0 ? null : values.reduce((total, value) => total + value, 0)

function addTraffic({ logDb }: MetricDeps, metrics: Metrics, labels: Map<string, Labels>) {
  for (const { sourceId, served } of listEver(logDb, [...labels.keys()])) {
    const of = labels.get(sourceId)!
    const tally = new Tally()
    tally.addServed(served)
    let answered = 0
    for (const [at, counted] of tally.statuses.entries()) {
      answered += counted
      metrics.add('requests', { ...of, status: `${at + 1}xx` }, counted)
    }
    metrics.add('requests', { ...of, status: 'aborted' }, tally.requests - answered)
    const counts = tally.durations.upTo(requestBounds)
    metrics.addHistogram('durations', of, { bounds: requestBounds, ...counts })
    metrics.add('requestBytes', of, tally.received)
    metrics.add('responseBytes', of, tally.sent)
  }
}

function addDeployments({ db }: MetricDeps, metrics: Metrics, labels: Map<string, Labels>) {
  for (const { environmentId, result, ...counts } of sumDeployments(db, [...labels.keys()])) {
    const of = { ...labels.get(environmentId), result }
    metrics.add('deployments', of, counts.count)
    metrics.addHistogram('deploymentDurations', of, { bounds: deploymentBounds, ...counts })
  }
}

function addCertificates(
  { db, config }: MetricDeps,
  metrics: Metrics,
  { items, labels }: { items: Item[]; labels: Map<string, Labels> },
) {
  const idsOf = (kind: Item['kind']) =>
    items.filter((item) => item.kind === kind).map(({ id }) => id)
  const holders = { environmentIds: idsOf('app'), serviceIds: idsOf('service') }
  for (const { environmentId, serviceId, host, own, notAfter } of listHosts(db, holders, config)) {
    const end = own ? describeCertificate(own).notAfter : notAfter
    const of = labels.get((environmentId ?? serviceId)!)
    metrics.add('certificates', { ...of, host }, end && end.getTime() / 1000)
  }
}

function addBackups({ db }: MetricDeps, metrics: Metrics, labels: Map<string, Labels>) {
  const { plans, kept, last } = listBackups(db, [...labels.keys()])
  for (const id of plans) metrics.add('planned', labels.get(id)!, 1)
  for (const { subjectId, finishedAt, provenAt } of kept) {
    metrics.add('backedUp', labels.get(subjectId)!, finishedAt && finishedAt / 1000)
    metrics.add('proven', labels.get(subjectId)!, provenAt && provenAt / 1000)
  }
  for (const { subjectId, status } of last)
    metrics.add('backupFails', labels.get(subjectId)!, Number(status === 'failed'))
}

function addDrains({ db, logDb }: MetricDeps, metrics: Metrics, labels: Map<string, Labels>) {
  for (const { environmentId, name, ...drain } of listProgress({ db, logDb }, [...labels.keys()])) {
    const of = { ...labels.get(environmentId), drain: name }
    metrics.add('drained', of, drain.sent)
    metrics.add('leftOut', of, drain.dropped)
    metrics.add('drainWaits', of, drain.waiting)
    metrics.add('drainFails', of, Number(drain.problem !== null))
  }
}

function addJobs(
  { db }: MetricDeps,
  metrics: Metrics,
  of: Parameters<typeof countJobs>[1],
  labels: Labels,
) {
  for (const { kind, status, count } of countJobs(db, of))
    metrics.add('jobs', { ...labels, kind, status }, count)
}

async function addServer(deps: MetricDeps, metrics: Metrics, isDockerUp: () => Promise<boolean>) {
  const [{ disk, memory }, isUp] = await Promise.all([deps.server.read(), isDockerUp()])
  addJobs(deps, metrics, { ownerId: null }, {})
  addBackups(deps, metrics, new Map([['davit', { subject: 'davit' }]]))
  metrics.add('docker', {}, Number(isUp))
  metrics.add('edge', {}, Number(deps.edge.trouble === null))
  metrics.add('diskSize', {}, disk?.size)
  metrics.add('diskFree', {}, disk?.free)
  metrics.add('serverMemory', {}, memory.size)
  metrics.add('serverMemoryUsed', {}, memory.used)
  const { user, system } = process.cpuUsage()
  metrics.add('ownMemory', {}, process.memoryUsage.rss())
  metrics.add('ownCpu', {}, (user + system) / 1e6)
  metrics.add('ownStart', {}, performance.timeOrigin / 1000)
}

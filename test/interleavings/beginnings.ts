import { BuildError } from '../../src/docker/index.ts'
import { actions } from './actions.ts'
import { composeFile, Installation } from './davit.ts'
import type { Snapshot } from './davit.ts'
import { Order } from './order.ts'
import { Random } from './random.ts'
import { calm, Schedule } from './schedule.ts'
import { world } from './world.ts'

/** What an installation can have when an order begins. */
export type Beginning = {
  settings: Record<string, unknown>
  isDeployed: boolean
  isTwofold?: boolean
  /** Runs a Compose file: each deployment builds one of its services anew. */
  isStack?: boolean
  /** Decides which service there is, if any. */
  serviceSeed?: number
}

export const beginnings: Beginning[] = [
  { settings: {}, isDeployed: true },
  { settings: {}, isDeployed: true, isTwofold: true },
  { settings: { volumes: ['data:/data'] }, isDeployed: true },
  { settings: { volumes: ['data:/data'] }, isDeployed: true, isTwofold: true },
  { settings: { port: 0 }, isDeployed: true },
  { settings: { port: 0 }, isDeployed: true, isTwofold: true },
  { settings: {}, isDeployed: false },
  { settings: {}, isDeployed: false, serviceSeed: 9 },
  { settings: {}, isDeployed: true, serviceSeed: 9 },
]

const command = ['sleep', '1000000']
const processes = [
  { name: 'worker', command, replicas: 2 },
  { name: 'web' },
  { name: 'clock', command },
]

/** Apps of several processes. */
export const withProcesses: Beginning[] = [
  { settings: { processes }, isDeployed: true },
  { settings: { processes, volumes: ['data:/data'] }, isDeployed: true },
  { settings: { processes: processes.slice(0, 1) }, isDeployed: true },
]

/** Those whose orders are about an app alone. */
export const withApp = beginnings.filter(
  ({ isDeployed, serviceSeed }) => isDeployed && !serviceSeed,
)

type Begun = Snapshot & { now: number; takeBack: () => void }

const known = new Map<object, Promise<Begun>>()

/** A project with its app, and what else there is. */
export function begunWith(beginning: Beginning) {
  const found = known.get(beginning)
  if (found) return found
  const making = make()
  known.set(beginning, making)
  return making

  async function make() {
    const { settings, isDeployed, isTwofold = false, isStack = false, serviceSeed } = beginning
    world.reset(0)
    const schedule = new Schedule(new Random(0), calm)
    const installation = new Installation(schedule, () => apps.well)
    const order = new Order(installation, schedule)
    const project = { name: 'site', repositoryUrl: 'https://git.example.com/team/site.git' }
    await order.request('POST', '/projects', project)
    const idOf = (table: string) =>
      installation.rows<{ id: string }>(`SELECT id FROM ${table}`)[0]!.id
    const path = `/projects/${idOf('projects')}`
    if (isTwofold) await order.request('POST', `${path}/envs`, { name: 'staging' })
    await order.request('PUT', `${path}/envs/${idOf('environments')}`, settings)
    if (isStack) await order.request('PUT', `${path}/settings`, { composeFile })
    if (isDeployed) await order.request('POST', `${path}/deployments`)
    if (serviceSeed) await actions.makeService!.run(order, new Random(serviceSeed))
    while (await order.step(world.now + 60_000)) continue // health checks come late
    const snapshot = installation.snapshot()
    return { ...snapshot, now: world.now, takeBack: snapshot.disk.remember() }
  }
}

export const apps = {
  well: { command: ['sleep', '1000000'], health: ['CMD', 'true'] },
  silent: { command: ['sleep', '1000000'] },
  ill: { command: ['sleep', '1000000'], health: ['CMD', 'false'] },
  ends: { command: ['sh', '-c', 'exit 1'] },
  endsSoon: { command: ['sh', '-c', 'sleep 0.5; exit 1'] },
  endsLater: { command: ['sh', '-c', 'sleep 30; exit 1'] },
  missing: { command: ['/no/such'] },
  stubborn: { command: ['sh', '-c', "trap '' TERM; while :; do sleep 1; done"] },
}

export function anApp(chance: Random) {
  const { what } = chance.weighed([
    { weight: 10, what: 'well' as const },
    { weight: 3, what: 'silent' as const },
    { weight: 1, what: 'ill' as const },
    { weight: 2, what: 'ends' as const },
    { weight: 1, what: 'endsSoon' as const },
    { weight: 1, what: 'endsLater' as const },
    { weight: 1, what: 'missing' as const },
    { weight: 1, what: 'stubborn' as const },
    { weight: 1, what: null },
  ])
  if (what === null) throw new BuildError('The command false ended with 1.')
  return apps[what]
}

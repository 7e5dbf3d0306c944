import { stateOf } from '../apps/live.ts'
import type { LiveDeps } from '../apps/live.ts'
import type { Environment } from '../environments/store.ts'
import { lookOfStatus, notDeployed } from '../web/status-badge.tsx'
import type { Look } from '../web/status-badge.tsx'
import type { Owned } from './store.ts'
import { counted } from '../web/units.ts'

export type MapProcess = { name: string; running: number; wanted: number; look: Look }

/** From the live containers; without any, from the configured processes. */
export function processesOf(
  deps: Omit<LiveDeps, 'db'>,
  { processes }: Pick<Environment, 'processes'>,
  instances: Owned['instances'][number][],
): MapProcess[] {
  if (instances.length === 0)
    return processes.map(({ name, replicas }) => ({
      ...{ name, running: 0, wanted: replicas },
      look: notRunning,
    }))
  return [...Map.groupBy(instances, ({ process }) => process)].map(([name, all]) => {
    const states = all.map((one) => stateOf(deps, one))
    const worst = byWeight.find((state) => states.includes(state))!
    const look = worst === 'crash_looping' ? crashLooping : lookOfStatus(worst)
    const running = states.filter((state) => state === 'running').length
    return { name, running, wanted: all.length, look }
  })
}

/** A process is shown as the first of these that one of its containers is in. */
const byWeight = ['crash_looping', 'unhealthy', 'running', 'unknown', 'stopped'] as const

type Deployment = NonNullable<Owned['apps'][number]['latest']>
type Deployments = {
  current: Pick<Deployment, 'id' | 'errorCode'> | null
  latest: Pick<Deployment, 'id' | 'status'> | null
}

/** The state of the worst process; while nothing runs, the result of the last deployment. */
export function lookOfApp({
  current,
  latest,
  processes,
}: Deployments & { processes: MapProcess[] }): { look: Look; note: string | null } {
  const wanted = processes.reduce((sum, one) => sum + one.wanted, 0)
  const running = processes.reduce((sum, one) => sum + one.running, 0)
  const isLive = processes.some(({ look }) => look !== notRunning)
  if (!latest || (!isLive && !current))
    return { look: latest ? lookOfStatus(latest.status) : notDeployed, note: null }
  const count = `${running} of ${counted(wanted, 'container')}`
  const isFailed = latest.id !== current?.id && latest.status === 'failed'
  return {
    look: isLive
      ? lookOfLive(processes, current)
      : lookOfStatus(current?.errorCode ? 'failed' : 'stopped'),
    note: isFailed ? `${count}, last deployment failed` : count,
  }
}

function lookOfLive(processes: MapProcess[], current: Deployments['current']): Look {
  const worst = processes.find(({ look }) => look.tone === 'bad')
  if (worst) return worst.look
  if (processes.every(({ running }) => running === 0)) {
    const unknown = processes.find(({ look }) => look === lookOfStatus('unknown'))
    if (unknown) return unknown.look
    return lookOfStatus(current?.errorCode ? 'failed' : 'stopped')
  }
  return processes.every(({ running, wanted }) => running === wanted)
    ? lookOfStatus('running')
    : lookOfStatus('unhealthy')
}

export const isServing = ({ word }: Look) =>
  ['Running', 'Unhealthy'].includes(word) || word === crashLooping.word

/** The state of an address whose app doesn't run. One that was stopped on purpose isn't an error. */
export function notResponding(holder: Look): Look {
  if (holder === lookOfStatus('unknown')) return holder
  const isBad = holder.tone === 'bad'
  return { word: 'Not responding', tone: isBad ? 'bad' : 'quiet', icon: isBad ? 'x' : 'minus' }
}

/** The state of an address without a check of its own. */
export const ready: Look = { word: 'Ready', tone: 'good', icon: 'check' }

const crashLooping: Look = { word: 'Crash-looping', tone: 'bad', icon: 'triangle-alert' }
const notRunning: Look = { word: 'Not running', tone: 'quiet', icon: 'minus' }

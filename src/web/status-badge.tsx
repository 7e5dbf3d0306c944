import type { deploymentStatuses, runStatuses, serviceStatuses } from '../db/schema.ts'
import { killed } from '../docker/index.ts'
import type { Container } from '../docker/index.ts'
import { Icon } from './icons.tsx'
import type { IconName } from './icons.tsx'
type ServiceStatus = (typeof serviceStatuses)[number]
type RunStatus = (typeof runStatuses)[number]

/** The running action on a workload. */
type Step = 'starting' | 'restarting' | 'stopping' | 'moving'

/** `unknown` while the server that it runs on is away. */
type Status = (typeof deploymentStatuses)[number] | ServiceStatus | Step | 'unknown'

/**
 * The state of a deployment, service or environment. `rest` is the percentage of the requests that a version still
 * gets beside one that has a share of them.
 */
export const StatusBadge = ({ status, rest }: { status: Status; rest?: number | undefined }) => (
  <Badge {...lookOfStatus(status, rest)} />
)

/** The state of a one-off command: a normal end is a success. */
export const RunBadge = ({ status }: { status: RunStatus }) => <Badge {...runLooks[status]} />

export const lookOfStatus = (status: Status, rest?: number): Look =>
  rest === undefined ? looks[status] : { ...looks.running, word: `Serving ${rest} %` }

const looks: Record<Status, Look> = {
  waiting: { word: 'Waiting', tone: 'quiet', icon: 'clock' },
  pending: { word: 'Queued', tone: 'quiet', icon: 'clock' },
  cloning: { word: 'Cloning', tone: 'active', icon: 'loader-circle' },
  building: { word: 'Building', tone: 'active', icon: 'loader-circle' },
  deploying: { word: 'Deploying', tone: 'active', icon: 'loader-circle' },
  pulling: { word: 'Pulling', tone: 'active', icon: 'loader-circle' },
  creating: { word: 'Creating', tone: 'active', icon: 'loader-circle' },
  starting: { word: 'Starting', tone: 'active', icon: 'loader-circle' },
  restarting: { word: 'Restarting', tone: 'active', icon: 'loader-circle' },
  stopping: { word: 'Stopping', tone: 'active', icon: 'loader-circle' },
  moving: { word: 'Moving', tone: 'active', icon: 'loader-circle' },
  running: { word: 'Running', tone: 'good', icon: 'check' },
  unhealthy: { word: 'Unhealthy', tone: 'bad', icon: 'triangle-alert' },
  failed: { word: 'Failed', tone: 'bad', icon: 'x' },
  cancelled: { word: 'Cancelled', tone: 'quiet', icon: 'minus' },
  superseded: { word: 'Superseded', tone: 'quiet', icon: 'arrow-up' },
  stopped: { word: 'Stopped', tone: 'quiet', icon: 'square' },
  unknown: { word: 'Unknown', tone: 'quiet', icon: 'minus' },
}

/** For an environment without a deployment. */
export const notDeployed: Look = { word: 'Not deployed', tone: 'quiet', icon: 'minus' }

const runLooks: Record<RunStatus, Look> = {
  pending: looks.pending,
  running: { word: 'Running', tone: 'active', icon: 'loader-circle' },
  succeeded: { word: 'Succeeded', tone: 'good', icon: 'check' },
  failed: looks.failed,
  cancelled: looks.cancelled,
}

/** For a state within a sentence. */
export const statusInWords = (status: Status | RunStatus) =>
  ({ ...looks, ...runLooks })[status].word.toLowerCase()

/** A state by word, shape and colour, so that it doesn't depend on colour alone. */
export type Look = {
  word: string
  tone: 'quiet' | 'active' | 'good' | 'bad'
  icon: IconName
}

/** Sorts problems first, then work in progress, then what runs. */
export const toneRanks: Record<Look['tone'], number> = { bad: 0, active: 1, good: 2, quiet: 3 }

export const Badge = ({ word, tone, icon }: Look) => (
  <span class="status" data-tone={tone}>
    <Icon name={icon} />
    {word}
  </span>
)

type ShownContainer = Pick<Container, 'state' | 'health'> & {
  exitCode: number | null
  oomKilled?: boolean
  looping?: boolean
}

export const ContainerBadge = (shown: ShownContainer) => <Badge {...lookOfContainer(shown)} />

/** For screen readers. */
export const stateInWords = (shown: ShownContainer) => lookOfContainer(shown).word.toLowerCase()

export function lookOfContainer({
  state,
  health,
  exitCode,
  oomKilled,
  looping,
}: ShownContainer): Look {
  if (looping) return { word: 'Crash-looping', tone: 'bad', icon: 'triangle-alert' }
  if (state === 'running') return running[health ?? 'none']
  if (state !== 'exited') return others[state]
  if (oomKilled && exitCode === killed) return { word: 'Out of memory', tone: 'bad', icon: 'x' }
  if (exitCode === null || askedFor.includes(exitCode))
    return { word: 'Stopped', tone: 'quiet', icon: 'square' }
  return { word: `Failed (${exitCode})`, tone: 'bad', icon: 'x' }
}

const running: Record<'none' | NonNullable<Container['health']>, Look> = {
  none: { word: 'Running', tone: 'good', icon: 'check' },
  healthy: { word: 'Healthy', tone: 'good', icon: 'check' },
  starting: { word: 'Starting', tone: 'active', icon: 'loader-circle' },
  unhealthy: { word: 'Unhealthy', tone: 'bad', icon: 'triangle-alert' },
}

const others: Record<Exclude<Container['state'], 'running' | 'exited'>, Look> = {
  created: { word: 'Created', tone: 'quiet', icon: 'clock' },
  restarting: { word: 'Restarting', tone: 'active', icon: 'loader-circle' },
  paused: { word: 'Paused', tone: 'quiet', icon: 'minus' },
  removing: { word: 'Removing', tone: 'quiet', icon: 'minus' },
  dead: { word: 'Dead', tone: 'bad', icon: 'x' },
}

/** Exit codes of a normal end: success, and the signals of a stop: INT, KILL, TERM. */
const askedFor = [0, 130, 137, 143]

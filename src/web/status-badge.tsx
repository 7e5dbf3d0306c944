import type { deploymentStatuses, runStatuses, serviceStatuses } from '../db/schema.ts'
import { killed } from '../docker/index.ts'
import type { Container } from '../docker/index.ts'
import {
  CheckIcon,
  ClockIcon,
  CrossIcon,
  DashIcon,
  SpinnerIcon,
  SquareIcon,
  UpIcon,
  WarningIcon,
} from './icons.tsx'

type DeploymentStatus = (typeof deploymentStatuses)[number]
type ServiceStatus = (typeof serviceStatuses)[number]
type RunStatus = (typeof runStatuses)[number]

/** The state of a deployment or service. */
export const StatusBadge = ({ status }: { status: DeploymentStatus | ServiceStatus }) => (
  <Badge {...looks[status]} />
)

/** The state of a command that runs once: it is well when it has ended. */
export const RunBadge = ({ status }: { status: RunStatus }) => <Badge {...runLooks[status]} />

const looks: Record<DeploymentStatus | ServiceStatus, Look> = {
  pending: { word: 'Pending', tone: 'quiet', icon: ClockIcon },
  cloning: { word: 'Cloning', tone: 'active', icon: SpinnerIcon },
  building: { word: 'Building', tone: 'active', icon: SpinnerIcon },
  deploying: { word: 'Deploying', tone: 'active', icon: SpinnerIcon },
  pulling: { word: 'Pulling', tone: 'active', icon: SpinnerIcon },
  creating: { word: 'Creating', tone: 'active', icon: SpinnerIcon },
  starting: { word: 'Starting', tone: 'active', icon: SpinnerIcon },
  running: { word: 'Running', tone: 'good', icon: CheckIcon },
  unhealthy: { word: 'Unhealthy', tone: 'bad', icon: WarningIcon },
  failed: { word: 'Failed', tone: 'bad', icon: CrossIcon },
  cancelled: { word: 'Cancelled', tone: 'quiet', icon: DashIcon },
  superseded: { word: 'Superseded', tone: 'quiet', icon: UpIcon },
  stopped: { word: 'Stopped', tone: 'quiet', icon: SquareIcon },
}

const runLooks: Record<RunStatus, Look> = {
  pending: looks.pending,
  running: { word: 'Running', tone: 'active', icon: SpinnerIcon },
  succeeded: { word: 'Succeeded', tone: 'good', icon: CheckIcon },
  failed: looks.failed,
  cancelled: looks.cancelled,
}

/** A state by word, shape and colour, so that none of them is needed alone. */
export type Look = {
  word: string
  tone: 'quiet' | 'active' | 'good' | 'bad'
  icon: typeof CheckIcon
}

export const Badge = ({ word, tone, icon: Icon }: Look) => (
  <span class="status" data-tone={tone}>
    <Icon />
    {word}
  </span>
)

type ShownContainer = Pick<Container, 'state' | 'health'> & {
  exitCode: number | null
  oomKilled?: boolean
  looping?: boolean
}

/** A container's state. */
export const ContainerBadge = (shown: ShownContainer) => <Badge {...look(shown)} />

/** In a sentence for those who do not see it. */
export const stateInWords = (shown: ShownContainer) => look(shown).word.toLowerCase()

function look({ state, health, exitCode, oomKilled, looping }: ShownContainer): Look {
  if (looping) return { word: 'Crash-looping', tone: 'bad', icon: WarningIcon }
  if (state === 'running') return running[health ?? 'none']
  if (state !== 'exited') return others[state]
  if (oomKilled && exitCode === killed)
    return { word: 'Out of memory', tone: 'bad', icon: CrossIcon }
  if (exitCode === null || askedFor.includes(exitCode))
    return { word: 'Stopped', tone: 'quiet', icon: SquareIcon }
  return { word: `Failed (${exitCode})`, tone: 'bad', icon: CrossIcon }
}

const running: Record<'none' | NonNullable<Container['health']>, Look> = {
  none: { word: 'Running', tone: 'good', icon: CheckIcon },
  healthy: { word: 'Healthy', tone: 'good', icon: CheckIcon },
  starting: { word: 'Starting', tone: 'active', icon: SpinnerIcon },
  unhealthy: { word: 'Unhealthy', tone: 'bad', icon: WarningIcon },
}

const others: Record<Exclude<Container['state'], 'running' | 'exited'>, Look> = {
  created: { word: 'Created', tone: 'quiet', icon: ClockIcon },
  restarting: { word: 'Restarting', tone: 'active', icon: SpinnerIcon },
  paused: { word: 'Paused', tone: 'quiet', icon: DashIcon },
  removing: { word: 'Being removed', tone: 'quiet', icon: DashIcon },
  dead: { word: 'Dead', tone: 'bad', icon: CrossIcon },
}

/** Done, and ended by the signals that a stop sends: INT, KILL, TERM. */
const askedFor = [0, 130, 137, 143]

import { killed } from '../docker/index.ts'
import type { Container } from '../docker/index.ts'
import { Badge } from '../web/status-badge.tsx'
import type { Look } from '../web/status-badge.tsx'
import {
  CheckIcon,
  ClockIcon,
  CrossIcon,
  DashIcon,
  SpinnerIcon,
  SquareIcon,
  WarningIcon,
} from '../web/icons.tsx'

type Shown = Pick<Container, 'state' | 'health'> & {
  exitCode: number | null
  oomKilled?: boolean
  looping?: boolean
}

/** A container's state. */
export const ContainerBadge = (shown: Shown) => <Badge {...look(shown)} />

/** In a sentence for those who do not see it. */
export const stateInWords = (shown: Shown) => look(shown).word.toLowerCase()

function look({ state, health, exitCode, oomKilled, looping }: Shown): Look {
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

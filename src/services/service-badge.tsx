import type { ContainerSummary } from '../docker/index.ts'
import { Badge } from '../web/status-badge.tsx'
import type { Look } from '../web/status-badge.tsx'
import {
  CheckIcon,
  ClockIcon,
  CrossIcon,
  SpinnerIcon,
  SquareIcon,
  WarningIcon,
} from '../web/icons.tsx'
import type { ServiceStatus } from './store.ts'

/** A service's state. */
export const ServiceBadge = ({ status }: { status: ServiceStatus }) => <Badge {...looks[status]} />

const looks: Record<ServiceStatus, Look> = {
  pulling: { word: 'Pulling', tone: 'active', icon: SpinnerIcon },
  creating: { word: 'Creating', tone: 'active', icon: SpinnerIcon },
  starting: { word: 'Starting', tone: 'active', icon: SpinnerIcon },
  running: { word: 'Running', tone: 'good', icon: CheckIcon },
  unhealthy: { word: 'Unhealthy', tone: 'bad', icon: WarningIcon },
  stopped: { word: 'Stopped', tone: 'quiet', icon: SquareIcon },
  failed: { word: 'Failed', tone: 'bad', icon: CrossIcon },
}

/** The state of one of a service's containers. */
export const PartBadge = ({
  container,
  status,
}: {
  container: ContainerSummary
  /** Of the service: what was stopped on purpose did not fail. */
  status: ServiceStatus
}) => <Badge {...partLook(container, status)} />

function partLook({ state, health, exitCode }: ContainerSummary, status: ServiceStatus): Look {
  if (state === 'running' && health === 'unhealthy')
    return { word: 'Unhealthy', tone: 'bad', icon: WarningIcon }
  if (state === 'running' && health === 'starting')
    return { word: 'Starting', tone: 'active', icon: ClockIcon }
  if (state === 'running')
    return { word: health === 'healthy' ? 'Healthy' : 'Running', tone: 'good', icon: CheckIcon }
  if (state === 'exited' && status === 'stopped')
    return { word: 'Stopped', tone: 'quiet', icon: SquareIcon }
  if (state === 'exited' && exitCode === 0)
    return { word: 'Ended', tone: 'quiet', icon: SquareIcon }
  if (state === 'exited') return { word: `Exited (${exitCode})`, tone: 'bad', icon: CrossIcon }
  return { word: state[0]!.toUpperCase() + state.slice(1), tone: 'quiet', icon: ClockIcon }
}

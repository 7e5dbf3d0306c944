import {
  CheckIcon,
  ClockIcon,
  CrossIcon,
  SpinnerIcon,
  SquareIcon,
  WarningIcon,
} from '../web/icons.tsx'
import type { ContainerSummary } from '../docker/index.ts'
import type { ServiceStatus } from './store.ts'

/** A service's state by word, shape and colour, so that none of them is needed alone. */
export const ServiceBadge = ({ status }: { status: ServiceStatus }) => (
  <span class="status" data-tone={tones[status]}>
    {icons[status]()}
    {words[status]}
  </span>
)

const words: Record<ServiceStatus, string> = {
  pulling: 'Pulling',
  creating: 'Creating',
  starting: 'Starting',
  running: 'Running',
  unhealthy: 'Unhealthy',
  stopped: 'Stopped',
  failed: 'Failed',
}

const tones: Record<ServiceStatus, 'quiet' | 'active' | 'good' | 'bad'> = {
  pulling: 'active',
  creating: 'active',
  starting: 'active',
  running: 'good',
  unhealthy: 'bad',
  stopped: 'quiet',
  failed: 'bad',
}

const icons: Record<ServiceStatus, () => ReturnType<typeof CheckIcon>> = {
  pulling: SpinnerIcon,
  creating: SpinnerIcon,
  starting: SpinnerIcon,
  running: CheckIcon,
  unhealthy: WarningIcon,
  stopped: SquareIcon,
  failed: CrossIcon,
}

/** The state of one of a service's containers. */
export const PartBadge = ({
  container,
  status,
}: {
  container: ContainerSummary
  /** Of the service: what was stopped on purpose did not fail. */
  status: ServiceStatus
}) => {
  const { tone, icon, word } = partState(container, status)
  return (
    <span class="status" data-tone={tone}>
      {icon()}
      {word}
    </span>
  )
}

function partState({ state, health, exitCode }: ContainerSummary, status: ServiceStatus) {
  if (state === 'running' && health === 'unhealthy')
    return { tone: 'bad', icon: WarningIcon, word: 'Unhealthy' }
  if (state === 'running' && health === 'starting')
    return { tone: 'active', icon: ClockIcon, word: 'Starting' }
  if (state === 'running')
    return { tone: 'good', icon: CheckIcon, word: health === 'healthy' ? 'Healthy' : 'Running' }
  if (state === 'exited' && status === 'stopped')
    return { tone: 'quiet', icon: SquareIcon, word: 'Stopped' }
  if (state === 'exited' && exitCode === 0)
    return { tone: 'quiet', icon: SquareIcon, word: 'Ended' }
  if (state === 'exited') return { tone: 'bad', icon: CrossIcon, word: `Exited (${exitCode})` }
  return { tone: 'quiet', icon: ClockIcon, word: state[0]!.toUpperCase() + state.slice(1) }
}

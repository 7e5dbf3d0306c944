import { Badge } from '../web/status-badge.tsx'
import type { Look } from '../web/status-badge.tsx'
import { CheckIcon, CrossIcon, SpinnerIcon, SquareIcon, WarningIcon } from '../web/icons.tsx'
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

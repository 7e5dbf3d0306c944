import type { deploymentStatuses } from '../db/schema.ts'
import {
  CheckIcon,
  ClockIcon,
  CrossIcon,
  DashIcon,
  SpinnerIcon,
  SquareIcon,
  UpIcon,
} from './icons.tsx'

type Status = (typeof deploymentStatuses)[number]

/** A deployment's state by word, shape and colour, so that none of them is needed alone. */
export const StatusBadge = ({ status }: { status: Status }) => (
  <span class="status" data-tone={tones[status]}>
    {icons[status]()}
    {words[status]}
  </span>
)

const words: Record<Status, string> = {
  pending: 'Pending',
  cloning: 'Cloning',
  building: 'Building',
  deploying: 'Deploying',
  running: 'Running',
  failed: 'Failed',
  cancelled: 'Cancelled',
  superseded: 'Superseded',
  stopped: 'Stopped',
}

const tones: Record<Status, 'quiet' | 'active' | 'good' | 'bad'> = {
  pending: 'quiet',
  cloning: 'active',
  building: 'active',
  deploying: 'active',
  running: 'good',
  failed: 'bad',
  cancelled: 'quiet',
  superseded: 'quiet',
  stopped: 'quiet',
}

const icons: Record<Status, () => ReturnType<typeof CheckIcon>> = {
  pending: ClockIcon,
  cloning: SpinnerIcon,
  building: SpinnerIcon,
  deploying: SpinnerIcon,
  running: CheckIcon,
  failed: CrossIcon,
  cancelled: DashIcon,
  superseded: UpIcon,
  stopped: SquareIcon,
}

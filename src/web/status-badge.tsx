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

/** A deployment's state. */
export const StatusBadge = ({ status }: { status: Status }) => <Badge {...looks[status]} />

const looks: Record<Status, Look> = {
  pending: { word: 'Pending', tone: 'quiet', icon: ClockIcon },
  cloning: { word: 'Cloning', tone: 'active', icon: SpinnerIcon },
  building: { word: 'Building', tone: 'active', icon: SpinnerIcon },
  deploying: { word: 'Deploying', tone: 'active', icon: SpinnerIcon },
  running: { word: 'Running', tone: 'good', icon: CheckIcon },
  failed: { word: 'Failed', tone: 'bad', icon: CrossIcon },
  cancelled: { word: 'Cancelled', tone: 'quiet', icon: DashIcon },
  superseded: { word: 'Superseded', tone: 'quiet', icon: UpIcon },
  stopped: { word: 'Stopped', tone: 'quiet', icon: SquareIcon },
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

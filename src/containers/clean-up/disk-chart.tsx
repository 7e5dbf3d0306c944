import { ErrorAlert } from '../../web/failures.tsx'
import { bytes } from '../../web/units.ts'
import type { DiskShares } from './disk.ts'
import type { DiskSpace } from '../../platform/disk-space.ts'

type Disk = {
  shares: DiskShares
  space: DiskSpace | null
  /** Davit itself has found no room any more. */
  isFull: boolean
}

/** What takes how much, as bars against the largest of them, and what the disk has left. */
export const DiskChart = ({ shares, space, isFull }: Disk) => {
  const largest = Math.max(1, ...Object.values(shares))
  return (
    <div class="disk">
      {isFull && <ErrorAlert title={full.title} detail={full.detail} />}
      <ul class="disk-bars">
        {labels.map(([share, label]) => (
          <li>
            <span>{label}</span>
            <Bar of={largest} value={shares[share]} />
            <span class="disk-bytes">{bytes(shares[share])}</span>
          </li>
        ))}
      </ul>
      <p class="muted">{space ? <SpaceLeft space={space} /> : elsewhere}</p>
    </div>
  )
}

const full = {
  title: 'The disk with the data of Davit is full',
  detail:
    'Davit has given up the room that it kept for cleaning up. Until the disk has some again, it keeps no output of containers and no history of what they use.',
}

const labels: [keyof DiskShares, string][] = [
  ['images', 'Images'],
  ['containers', 'Containers'],
  ['volumes', 'Volumes'],
  ['buildCache', 'Build cache'],
  ['logs', 'Kept logs'],
  ['database', 'Database'],
]

/** The number beside it says the same. */
const Bar = ({ value, of }: { value: number; of: number }) => (
  <svg class="disk-bar" aria-hidden="true">
    <rect class="disk-track" width="100%" height="100%" rx="4" />
    <rect class="disk-fill" width={`${percentOf(value, of)}%`} height="100%" rx="4" />
  </svg>
)

/** What is there at all can be seen. */
const percentOf = (value: number, of: number) =>
  value === 0 ? 0 : Math.max(1, Math.round((value / of) * 1000) / 10)

const SpaceLeft = ({ space: { folder, size, free, used } }: { space: DiskSpace }) => (
  <>
    The disk of <code>{folder}</code> is {used} % full: {bytes(free)} of {bytes(size)} are free.
  </>
)

const elsewhere = 'How full the disk is can’t be seen from here: the engine is on another machine.'

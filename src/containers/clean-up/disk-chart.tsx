import type { Child } from 'hono/jsx'
import { ErrorAlert } from '../../web/failures.tsx'
import { Live } from '../../web/live.tsx'
import { Ago } from '../../web/times.tsx'
import { bytes } from '../../web/units.ts'
import type { DiskShares, OtherDisk, OwnerShare } from './disk.ts'
import { totalOf } from './disk.ts'
import type { DiskSpace } from '../../platform/disk-space.ts'

export type ShownDisk = {
  /** Null while Docker measures it for the first time. */
  shares: DiskShares | null
  owners: OwnerShare[]
  others: OtherDisk[]
  at: Date | null
  space: DiskSpace | null
  /** True when Davit itself found the disk full. */
  isFull: boolean
}

export const DiskChart = ({ shares, owners, others, at, space, isFull }: ShownDisk) => (
  <Live id="disk-use" class="disk">
    {isFull && <ErrorAlert title={full.title} detail={full.detail} />}
    {shares ? (
      <Bars
        largest={Math.max(...Object.values(shares))}
        rows={labels.map(([share, label]) => ({
          label: <span>{label}</span>,
          value: shares[share],
        }))}
      />
    ) : (
      <p class="muted">Docker is measuring its disk usage. This can take a minute.</p>
    )}
    {owners.length > 0 && (
      <>
        <h3>By user: what their containers wrote, their volumes and images</h3>
        <Bars
          largest={totalOf(owners[0]!)}
          rows={owners.slice(0, maxOwners).map((owner) => ({
            label: <bdi class="disk-owner">{owner.email}</bdi>,
            value: totalOf(owner),
          }))}
        />
      </>
    )}
    <p class="muted">
      {space ? <SpaceLeft space={space} /> : elsewhere}
      {at && (
        <>
          {' '}
          Measured <Ago at={at} />.
        </>
      )}
    </p>
    {others.length > 0 && <OtherDisks others={others} />}
  </Live>
)

const OtherDisks = ({ others }: { others: OtherDisk[] }) => (
  <>
    <h3>Other servers</h3>
    <ul class="rows">
      {others.map(({ name, use, space }) => (
        <li>
          <div class="row-main">
            <strong>
              <bdi>{name}</bdi>
            </strong>
            <p class="row-facts">
              {use ? (
                labels.map(
                  ([share, label]) =>
                    share in use && (
                      <span>
                        {label} {bytes(use[share as keyof typeof use])}
                      </span>
                    ),
                )
              ) : (
                <span>not measured</span>
              )}
              <span>
                {space ? `${bytes(space.free)} of ${bytes(space.size)} free` : 'free space unknown'}
              </span>
            </p>
          </div>
        </li>
      ))}
    </ul>
  </>
)

const Bars = ({ rows, largest }: { rows: { label: Child; value: number }[]; largest: number }) => (
  <ul class="disk-bars">
    {rows.map(({ label, value }) => (
      <li>
        {label}
        <Bar of={Math.max(1, largest)} value={value} />
        <span class="disk-bytes">{bytes(value)}</span>
      </li>
    ))}
  </ul>
)

/** Owners with less than the first ten aren't listed. */
const maxOwners = 10

const full = {
  title: 'The disk with Davit’s data is full',
  detail:
    'Davit has released the space it reserves for cleaning up. Until there is free space again, it stores no logs and no usage history of containers.',
}

const labels: [keyof DiskShares, string][] = [
  ['images', 'Images'],
  ['containers', 'Containers'],
  ['volumes', 'Volumes'],
  ['buildCache', 'Build cache'],
  ['logs', 'Stored logs'],
  ['database', 'Database'],
]

/** Hidden from screen readers: the number beside it says the same. */
const Bar = ({ value, of }: { value: number; of: number }) => (
  <svg class="disk-bar" aria-hidden="true">
    <rect class="disk-track" width="100%" height="100%" rx="4" />
    <rect class="disk-fill" width={`${percentOf(value, of)}%`} height="100%" rx="4" />
  </svg>
)

/** At least 1, so that a non-zero amount is always visible. */
const percentOf = (value: number, of: number) =>
  value === 0 ? 0 : Math.max(1, Math.round((value / of) * 1000) / 10)

const SpaceLeft = ({ space: { folder, size, free, used } }: { space: DiskSpace }) => (
  <>
    The disk of <code>{folder}</code> is {used} % full: {bytes(free)} of {bytes(size)} are free.
  </>
)

const elsewhere = 'The disk usage is unknown, because Docker is on another machine.'

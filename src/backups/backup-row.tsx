import { Badge, RunBadge } from '../web/status-badge.tsx'
import { Ago } from '../web/times.tsx'
import { bytes, counted, duration } from '../web/units.ts'
import type { Progress } from './deps.ts'
import { volumesIn } from './store.ts'
import type { Backup } from './store.ts'

type Props = {
  backup: Backup
  progress: Progress | null
  /** Of its target; undefined once that was removed. */
  target: string | undefined
  /** Of its subject, in a list of those of all. */
  name?: string | undefined
}

export const BackupRow = ({ backup, progress, target, name }: Props) => (
  <li class="row" id={`backup-${backup.id}`}>
    <RunBadge status={backup.status} />
    <div class="row-main">
      <a class="row-link" href={`/backups/${backup.id}`}>
        {name && (
          <>
            <bdi>{name}</bdi>,{' '}
          </>
        )}
        <Ago at={backup.createdAt} />
      </a>
      <p class="row-facts">
        {backup.bytes !== null && <span>{bytes(backup.bytes)}</span>}
        {backup.status === 'succeeded' && <span>{summaryOf(backup)}</span>}
        {backup.status === 'running' && progress && <span>{progressIn(progress)}</span>}
        {backup.errorMessage && <span dir="auto">{backup.errorMessage}</span>}
        <span>{target ? <bdi>{target}</bdi> : 'its target was removed'}</span>
        <Proof backup={backup} />
      </p>
    </div>
  </li>
)

const tablesOf = ({ contents }: Backup) =>
  (contents ?? []).flatMap(({ databases }) => databases.flatMap(({ tables }) => tables))

/** `14 tables, 120,331 rows, 1 volume` */
export function summaryOf(backup: Backup) {
  const tables = tablesOf(backup)
  const volumes = volumesIn(backup)
  return [
    tables.length > 0 && counted(tables.length, 'table'),
    backup.rows !== null && counted(backup.rows, 'row'),
    volumes.length > 0 && counted(volumes.length, 'volume'),
  ]
    .filter(Boolean)
    .join(', ')
}

export const progressIn = ({ file, bytes: size, total }: Progress) =>
  `${file}: ${bytes(size)}${total === null ? '' : ` of ${bytes(total)}`}`

/** What its restore for a test said. */
export const Proof = ({ backup }: { backup: Backup }) => {
  const { provenAt, provenSeconds, provenRows, provenError, untested } = backup
  const tables = tablesOf(backup)
  return (
    <>
      {untested && (
        <span>
          <Badge word="Couldn’t be tested" tone="quiet" icon="triangle-alert" /> {untested}
        </span>
      )}
      {provenError && (
        <span>
          <Badge word="Can’t be restored" tone="bad" icon="x" /> <Ago at={provenAt} />:{' '}
          {provenError}
        </span>
      )}
      {provenAt && !provenError && (
        <span>
          Proven restorable <Ago at={provenAt} />
          {tables.length > 0 && `: ${counted(tables.length, 'table')}`}
          {provenRows !== null && `, ${counted(provenRows, 'row')}`}, in{' '}
          {duration((provenSeconds ?? 0) * 1000)}
        </span>
      )}
    </>
  )
}

import { JobLog } from '../logs/job-log.tsx'
import type { LastLines } from '../logs/read-log.ts'
import { Fact, PageHead, Trouble } from '../web/components.tsx'
import type { Draft } from '../web/draft.ts'
import { Button, ButtonLink, PostForm } from '../web/form.tsx'
import { Live } from '../web/live.tsx'
import { Person } from '../web/person.tsx'
import { RunBadge, statusInWords } from '../web/status-badge.tsx'
import { Ago } from '../web/times.tsx'
import { cancelRestore } from '../services/service-status.tsx'
import { bytes, counted, duration } from '../web/units.ts'
import { progressIn, Proof, summaryOf } from './backup-row.tsx'
import type { Progress } from './deps.ts'
import { isEnded, isStored } from './store.ts'
import type { Preview } from './json.ts'
import { RestoreSection } from './restore/restore-section.tsx'
import type { Backup } from './store.ts'
import { backupsPath, keyOf } from './subject.ts'
import type { TargetRow } from './targets/store.ts'

type Props = {
  backup: Backup
  /** Undefined once it was removed. */
  target: TargetRow | undefined
  progress: Progress | null
  isCancelling: boolean
  /** False once what it is of was deleted. */
  isThere: boolean
  isProving: boolean
  isRestoring: boolean
}

type PageProps = Props & {
  log: LastLines
  draft: Draft
  /** Null for what can’t be restored. */
  preview: Preview | null
}

export const BackupPage = ({ log, draft, preview, ...of }: PageProps) => {
  const { backup } = of
  const isOver = isEnded(backup.status) && !of.isProving && !of.isRestoring
  return (
    <>
      <Status {...of} />
      <Contents backup={backup} hasTarget={of.target !== undefined} />
      <RestoreSection {...{ backup, preview, draft }} isRestoring={of.isRestoring} />
      <JobLog log={log} page={`/backups/${backup.id}`} isOver={isOver} />
    </>
  )
}

const Status = (props: Props) => {
  const { backup, target, progress, isCancelling, isThere, isProving } = props
  const { status, startedAt, finishedAt } = backup
  return (
    <Live
      as="section"
      id="backup-status"
      class="deployment-status"
      aria-label="Status"
      data-announce={`The backup is ${statusInWords(status)}.`}
    >
      <PageHead
        title={`Backup of ${backup.subjectName}`}
        doc="backups"
        crumbs={[{ href: isThere ? backupsPath(keyOf(backup)) : '/backups', name: 'Backups' }]}
      />
      {backup.errorCode && (
        <Trouble title={status === 'succeeded' ? 'Stored, but' : 'Failed'} hint={backup.errorHint}>
          <p dir="auto">{backup.errorMessage}</p>
        </Trouble>
      )}
      <div class="status-line">
        <RunBadge status={status} />
        {status === 'running' && progress && <span class="muted">{progressIn(progress)}</span>}
        {isCancelling && !isEnded(status) && <span class="muted">being cancelled</span>}
        {isProving ? (
          <span class="muted">being restored for a test</span>
        ) : (
          <Proof backup={backup} />
        )}
        <div class="actions">
          <Actions {...props} />
        </div>
      </div>
      <dl class="facts">
        <Fact name="Target">
          {target ? (
            <bdi>{target.name}</bdi>
          ) : (
            'It was removed. Add it again with its key to use the backup.'
          )}
        </Fact>
        <Fact name="Started by">
          {backup.startedBy === 'plan' ? 'its plan' : <Person email={backup.startedBy} />},{' '}
          <Ago at={backup.createdAt} />
        </Fact>
        {backup.goneAt && (
          <Fact name="Removed from the target">
            <Ago at={backup.goneAt} />. It can’t be restored any more.
          </Fact>
        )}
        {startedAt && finishedAt && (
          <Fact name="Took">{duration(finishedAt.getTime() - startedAt.getTime())}</Fact>
        )}
        {backup.bytes !== null && (
          <Fact name="Size">
            {bytes(backup.bytes)}; the target grew by {bytes(backup.addedBytes ?? 0)}
          </Fact>
        )}
        {status === 'succeeded' && <Fact name="Contents">{summaryOf(backup)}</Fact>}
        {backup.checksum && (
          <Fact name="Checksum">
            <code>{backup.checksum}</code>
          </Fact>
        )}
      </dl>
    </Live>
  )
}

const Actions = ({ backup, target, isCancelling, isProving, isRestoring }: Props) => {
  const { id, status, goneAt } = backup
  if (!isEnded(status) || isProving || isRestoring)
    return (
      <PostForm action={`/backups/${id}/cancel`} question={isRestoring ? cancelRestore : undefined}>
        <Button variant="destructive" disabled={isCancelling}>
          {isRestoring ? 'Cancel restore…' : isProving ? 'Cancel test' : 'Cancel backup'}
        </Button>
      </PostForm>
    )
  if (goneAt) return null
  return (
    <>
      {target && status === 'succeeded' && (
        <PostForm action={`/backups/${id}/prove`}>
          <Button icon="check" variant="outline">
            Prove now
          </Button>
        </PostForm>
      )}
      <PostForm
        action={`/backups/${id}`}
        method="DELETE"
        question={target ? questions.delete : questions.forget}
      >
        <Button icon="trash-2" quiet variant="ghost">
          Delete…
        </Button>
      </PostForm>
    </>
  )
}

const questions = {
  delete: {
    text: 'Delete this backup from its target? It can’t be restored any more.',
    answer: 'Delete backup',
  },
  forget: {
    text: 'Remove this backup from the list? What its removed target has of it stays there.',
    answer: 'Remove backup',
  },
}

/** What the dump had, and the snapshots by which restic finds it without Davit. */
const Contents = ({ backup, hasTarget }: { backup: Backup; hasTarget: boolean }) =>
  backup.files.length === 0 ? (
    <Live as="section" id="contents" hidden />
  ) : (
    <Live as="section" id="contents" aria-labelledby="contents-heading">
      <h2 id="contents-heading">Contents</h2>
      {(backup.contents ?? []).map(({ component, engine, version, databases }) =>
        databases.map(({ name, tables }) => (
          <details>
            <summary>
              <span>
                <code>{name}</code> of <bdi>{component}</bdi> ({engine} {version}):{' '}
                {counted(tables.length, 'table')}
              </span>
            </summary>
            <table class="table">
              <thead>
                <tr>
                  <th scope="col">Table</th>
                  <th scope="col">Rows</th>
                </tr>
              </thead>
              <tbody>
                {tables.slice(0, maxTables).map((table) => (
                  <tr>
                    <td>
                      <code>{table.name}</code>
                    </td>
                    <td>{table.rows.toLocaleString('en')}</td>
                  </tr>
                ))}
              </tbody>
            </table>
            {tables.length > maxTables && <p class="muted">and {tables.length - maxTables} more</p>}
          </details>
        )),
      )}
      <ul class="rows">
        {backup.files.map(({ file, snapshot, bytes: size, volumes = [] }) => (
          <li class="row">
            <div class="row-main">
              <strong>
                <code>{file}</code>
              </strong>
              <p class="row-facts">
                <span>{bytes(size)}</span>
                {volumes.length > 0 && <span>{volumes.join(', ')}</span>}
                <span>
                  snapshot <code>{snapshot.slice(0, 8)}</code>
                </span>
              </p>
            </div>
            {hasTarget && isStored(backup) && (
              <ButtonLink
                variant="outline"
                small
                icon="download"
                href={`/backups/${backup.id}/download?file=${encodeURIComponent(file)}`}
                download
                aria-label={`Download ${file}`}
              >
                Download
              </ButtonLink>
            )}
          </li>
        ))}
      </ul>
    </Live>
  )

/** Tables of a database that its page lists. */
const maxTables = 200

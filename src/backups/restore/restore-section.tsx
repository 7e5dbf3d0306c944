import type { Draft } from '../../web/draft.ts'
import { Checkbox, FormError, SelectField } from '../../web/fields-view.tsx'
import { Button, PostForm } from '../../web/form.tsx'
import { Live } from '../../web/live.tsx'
import { RunBadge } from '../../web/status-badge.tsx'
import { Ago } from '../../web/times.tsx'
import { summaryOf } from '../backup-row.tsx'
import type { Backup } from '../store.ts'

type Props = {
  backup: Backup
  isRestoring: boolean
  draft: Draft
}

/** What a restore replaces, the last one, and its form. */
export const RestoreSection = ({ backup, isRestoring, draft }: Props) => {
  const { id, subjectName, restore } = backup
  const databases = (backup.contents ?? []).flatMap(({ databases }) => databases)
  return (
    <Live as="section" id="restore" aria-labelledby="restore-heading">
      <h2 id="restore-heading">Restore</h2>
      <PostForm
        action={`/backups/${id}/restore`}
        class="form"
        draft={draft}
        question={{
          text: `Replace the data of ${subjectName} by this backup?`,
          answer: 'Restore backup',
        }}
      >
        <FormError />
        <p class="muted">
          Replaces the data of <bdi>{subjectName}</bdi> by this backup: {summaryOf(backup)}.
          Databases that it doesn’t have stay. What writes to a volume is stopped meanwhile.
        </p>
        {restore && (
          <p dir="auto">
            <RunBadge status={restore.status} /> <Ago at={new Date(restore.at)} />
            {restore.before && (
              <>
                {' '}
                after <a href={`/backups/${restore.before}`}>a backup of what was there before</a>
              </>
            )}
            {restore.error && `: ${restore.error}`}
          </p>
        )}
        {databases.length > 1 && (
          <SelectField
            name="database"
            label="What"
            value=""
            options={[
              { value: '', label: 'all of it' },
              ...databases.map(({ name }) => ({
                value: name,
                label: `the database ${name} alone`,
              })),
            ]}
          />
        )}
        <Checkbox
          name="backup_first"
          label="Back up first what is there now"
          hint="Nothing is replaced unless that succeeds. Restore it to go back."
          value
        />
        <div class="form-actions start">
          <Button variant="destructive" disabled={isRestoring}>
            Restore…
          </Button>
        </div>
      </PostForm>
    </Live>
  )
}

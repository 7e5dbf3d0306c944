import { ownFile } from '../../services/own-file.ts'
import { emptyDraft } from '../../web/draft.ts'
import type { Draft } from '../../web/draft.ts'
import { Checkbox, FormError, SelectField, TextField } from '../../web/fields-view.tsx'
import { Button, PostForm } from '../../web/form.tsx'
import { optionsOf } from '../../web/labelled-fields.ts'
import { Live } from '../../web/live.tsx'
import { RunBadge } from '../../web/status-badge.tsx'
import { Ago } from '../../web/times.tsx'
import { summaryOf } from '../backup-row.tsx'
import type { Backup } from '../store.ts'
import type { Preview } from '../json.ts'
import type { NewService } from './new-service.ts'

type Props = {
  backup: Backup
  preview: Preview
  isRestoring: boolean
  draft: Draft
}

type OverProps = Props & { isBeside: boolean }
type NewProps = Props & { service: NewService }

/** What a restore replaces or creates, the last one, and a form for each. Empty without a preview. */
export const RestoreSection = ({
  draft,
  preview,
  ...about
}: Omit<Props, 'preview'> & { preview: Preview | null }) => {
  if (!preview) return <Live as="section" id="restore" hidden />
  const { backup } = about
  const of = { ...about, preview }
  const { into = 'same', environment_id: environmentId } = draft.values
  const form = into === 'new' ? 'new' : environmentId === undefined ? 'same' : 'other'
  const draftOf = (one: typeof form) => (one === form ? draft : emptyDraft) // each has only its own
  return (
    <Live as="section" id="restore" aria-labelledby="restore-heading">
      <h2 id="restore-heading">Restore</h2>
      <LastRestore backup={backup} />
      {preview.same && <RestoreOver {...of} draft={draftOf('same')} isBeside={false} />}
      {preview.environments.length > 0 && <RestoreOver {...of} draft={draftOf('other')} isBeside />}
      {preview.new && <RestoreIntoNew {...of} service={preview.new} draft={draftOf('new')} />}
    </Live>
  )
}

const LastRestore = ({ backup: { restore } }: Pick<Props, 'backup'>) =>
  restore && (
    <p dir="auto">
      <RunBadge status={restore.status} /> <Ago at={new Date(restore.at)} />
      {restore.into && (
        <>
          {' '}
          into{' '}
          {restore.into.isNew && restore.status !== 'succeeded' ? (
            <bdi>{restore.into.name}</bdi>
          ) : (
            <a
              href={
                restore.into.kind === 'service'
                  ? `/services/${restore.into.id}`
                  : `/envs/${restore.into.id}/backups`
              }
            >
              <bdi>{restore.into.name}</bdi>
            </a>
          )}
        </>
      )}
      {restore.before && (
        <>
          {' '}
          after <a href={`/backups/${restore.before}`}>a backup of what was there before</a>
        </>
      )}
      {restore.error && `: ${restore.error}`}
    </p>
  )

/** Of what it is of, or of another environment. */
const RestoreOver = ({ backup, preview, isRestoring, draft, isBeside }: OverProps) => {
  const end = isBeside ? '-beside' : ''
  const name = isBeside ? 'that environment' : preview.same!.name
  return (
    <PostForm
      action={`/backups/${backup.id}/restore`}
      class="form"
      draft={draft}
      question={{
        text: `Replace the data of ${name} with this backup?`,
        answer: 'Restore backup',
      }}
    >
      {isBeside && <h3>Into another environment</h3>}
      <FormError />
      {isBeside ? (
        <>
          <p class="muted">
            Replaces the data of volumes and databases that have the same names there, such as those
            of a preview or of staging.
          </p>
          <SelectField
            name="environment_id"
            label="Environment"
            value=""
            options={optionsOf(preview.environments)}
          />
        </>
      ) : (
        <p class="muted">
          Replaces the data of <bdi>{name}</bdi> with this backup: {summaryOf(backup)}. Databases
          that aren’t in it stay. Containers that write to a volume are stopped meanwhile.
        </p>
      )}
      <Database id={`database${end}`} preview={preview} />
      <Checkbox
        name="backup_first"
        label="Back up the current data first"
        id={`backup-first${end}`}
        hint="Nothing is replaced unless that succeeds. To go back, restore that backup."
        value
      />
      <div class="form-actions start">
        <Button variant="destructive" disabled={isRestoring}>
          {isBeside ? 'Restore into it…' : 'Restore…'}
        </Button>
      </div>
    </PostForm>
  )
}

const RestoreIntoNew = ({ backup, preview, service, isRestoring, draft }: NewProps) => (
  <PostForm action={`/backups/${backup.id}/restore`} class="form" draft={draft}>
    <h3>Into a new service</h3>
    <FormError />
    <input type="hidden" name="into" value="new" />
    <p class="muted">
      Creates a service like <bdi>{backup.subjectName}</bdi> was then{titleOf(service)}, with
      volumes and an address of its own, and loads this backup into it. {passwordsOf(service)} No
      app is linked to it.
    </p>
    {service.unmounted.length > 0 && (
      <p class="muted">
        Volumes that an earlier version used come back, too, but nothing of it mounts them:{' '}
        <bdi>{service.unmounted.join(', ')}</bdi>.
      </p>
    )}
    <TextField name="name" label="Name" id="new-name" value={service.name} required />
    {preview.servers.length > 1 && (
      <SelectField
        name="server"
        label="Server"
        value={preview.servers[0]!.id}
        options={optionsOf(preview.servers)}
      />
    )}
    <Database id="database-new" preview={preview} />
    <div class="form-actions start">
      <Button variant="outline" disabled={isRestoring}>
        Create service
      </Button>
    </div>
  </PostForm>
)

const titleOf = ({ template, title, version }: NewService) =>
  template === ownFile ? '' : `, ${title} ${version}`.trimEnd()

const passwordsOf = ({ newPasswords }: NewService) =>
  newPasswords
    ? 'Its databases have new passwords.'
    : 'It has the passwords and keys of the backup, which its files may need.'

/** Without it, all of the backup. */
const Database = ({ id, preview: { databases } }: { id: string } & Pick<Props, 'preview'>) =>
  databases.length > 1 ? (
    <SelectField
      name="database"
      label="What"
      id={id}
      value=""
      options={[
        { value: '', label: 'all of it' },
        ...databases.map((name) => ({ value: name, label: `the database ${name} alone` })),
      ]}
    />
  ) : (
    <></>
  )

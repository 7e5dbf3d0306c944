import { Difference, Fact, PageHead } from '../web/components.tsx'
import { Modal, ModalActions } from '../web/dialog.tsx'
import type { User } from '../web/factory.ts'
import { TextArea, TextField } from '../web/fields-view.tsx'
import { Button, ButtonLink, Form, HiddenFields, PostForm } from '../web/form.tsx'
import type { Draft } from '../web/draft.ts'
import type { Server } from '../runtime/placement.ts'
import { dotenv } from './compose/template.ts'
import type { Definition } from './definition.ts'
import type { Change } from './difference.ts'
import type { Edit } from './edit.ts'
import { FileFields } from './file-fields.tsx'
import { ownFile } from './own-file.ts'
import { serviceCrumbs, servicePath } from './own-service.ts'
import type { Service } from './store.ts'

type Props = { definition: Definition; servers: Server[]; draft: Draft; user: User }

export const EditPage = (props: Props) => (
  <div class="narrow">
    <PageHead
      title={`Change ${props.definition.name}`}
      doc="services#change-a-service"
      crumbs={serviceCrumbs(props.definition)}
    />
    <EditForm {...props} />
  </div>
)

/** Shows the changes first; that dialog has the button that applies them. */
export const EditForm = ({ definition, draft, ...shown }: Props) => (
  <Form
    id="edit-form"
    class="form service-form"
    draft={draft}
    action={servicePath(definition)}
    method="PUT"
    replaces="this"
    buttons={
      <>
        <ButtonLink variant="ghost" href={servicePath(definition)}>
          Back
        </ButtonLink>
        <Button name="preview" value="1">
          Preview changes
        </Button>
      </>
    }
  >
    <TextField name="name" label="Name" value={definition.name} required autocomplete="off" />
    {definition.template === ownFile && <OwnFileFields {...definition} />}
    <FileFields file={definition.file} kept={definition} {...shown} />
  </Form>
)

const OwnFileFields = ({ compose, values }: Definition) => (
  <>
    <TextArea name="compose" label="Compose file" value={compose} rows={14} required code />
    <TextArea
      name="env"
      label=".env beside it"
      rows={4}
      placeholder={values.has(dotenv) ? 'unchanged' : 'KEY=value'}
      hint={values.has(dotenv) ? 'Leave empty to keep it unchanged.' : undefined}
      secret
      code
    />
  </>
)

type DifferenceProps = { service: Service; edit: Edit; offersBackup: boolean }

/** Lists the changes and their consequences. Its button submits the form below it. */
export const DifferenceModal = ({ service, edit, offersBackup }: DifferenceProps) => (
  <hx-partial hx-target="#modal" hx-swap="innerHTML">
    <Modal title={titleOf(service, edit)} from={{ href: servicePath(service), name: service.name }}>
      <div class="form">
        <Differences service={service} edit={edit} />
        {offersBackup && <BackupCheckbox form="edit-form" />}
        <ModalActions>
          {edit.changes.length > 0 && (
            <Button form="edit-form" data-close autofocus>
              {applyLabel(edit)}
            </Button>
          )}
        </ModalActions>
      </div>
    </Modal>
  </hx-partial>
)

/** For a form that was sent without script: includes the values, to be sent again. */
export const DifferencePage = ({
  service,
  edit,
  sent,
  offersBackup,
}: DifferenceProps & { sent: { name: string; value: string }[] }) => (
  <PostForm class="form narrow" action={servicePath(service)} method="PUT">
    <h1>{titleOf(service, edit)}</h1>
    <HiddenFields fields={sent} />
    <Differences service={service} edit={edit} />
    {offersBackup && <BackupCheckbox />}
    <div class="form-actions start">
      {edit.changes.length > 0 && <Button>{applyLabel(edit)}</Button>}
      <ButtonLink variant="outline" href={`${servicePath(service)}/edit`}>
        Back
      </ButtonLink>
    </div>
  </PostForm>
)

/** In a dialog it belongs to the form below that. */
const BackupCheckbox = ({ form }: { form?: string }) => (
  <div class="field check">
    <input type="hidden" name="backup_first" value="0" form={form} />
    <input id="backup-first" type="checkbox" name="backup_first" value="1" form={form} checked />
    <label for="backup-first">Back it up first</label>
    <p class="hint">If the backup fails, nothing is changed.</p>
  </div>
)

const applyLabel = ({ remakes }: Edit) => (remakes ? 'Apply and start' : 'Apply changes')

const titleOf = ({ name }: Service, { changes }: Edit) =>
  changes.length === 0 ? (
    'Nothing changes'
  ) : (
    <>
      Change <bdi>{name}</bdi>?
    </>
  )

const Differences = ({ service: { status }, edit }: Omit<DifferenceProps, 'offersBackup'>) => {
  const { changes, remakes, volumes } = edit
  if (changes.length === 0) return <p>The settings are unchanged.</p>
  const isDown = status === 'stopped' || status === 'failed'
  return (
    <>
      <dl class="difference">
        {changes.map((change) => (
          <Fact name={change.label}>
            <ChangedValue {...change} />
          </Fact>
        ))}
      </dl>
      <p>
        {remakes
          ? `Its containers are recreated${isDown ? ' and started' : ''}, and it isn’t reachable meanwhile. If it doesn’t start with the change, the change is undone.`
          : 'Its containers keep running.'}
      </p>
      {remakes && volumes.length > 0 && (
        <p>
          {volumes.length === 1 ? 'Its volume is kept: ' : 'Its volumes are kept: '}
          <code>{volumes.join(', ')}</code>.
        </p>
      )}
    </>
  )
}

const ChangedValue = ({ from, to, secret }: Change) =>
  from === null && to === null ? (
    <span class="muted">{secret ? 'another secret value' : 'another text'}</span>
  ) : (
    <Difference from={from} to={to} />
  )

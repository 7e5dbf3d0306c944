import { PageHead } from '../web/components.tsx'
import { Modal, ModalActions } from '../web/dialog.tsx'
import type { User } from '../web/factory.ts'
import { FormError, TextArea, TextField } from '../web/fields-view.tsx'
import { Button, ButtonLink, HiddenFields, PostForm } from '../web/form.tsx'
import type { Draft } from '../web/draft.ts'
import { dotenv } from './compose/template.ts'
import type { Template } from './compose/template.ts'
import { askedFor } from './compose/values.ts'
import { PlaceFields } from './configure-page.tsx'
import { DangerFields } from './danger-fields.tsx'
import { ownFile } from './own-file.ts'
import type { Definition } from './definition.ts'
import type { Change } from './difference.ts'
import type { Edit } from './edit.ts'
import { outlineOf } from './outline.ts'
import { servicePath } from './own-service.ts'
import type { Service } from './store.ts'
import { VariableFields } from './variable-fields.tsx'

type Props = {
  service: Service
  definition: Definition
  template: Template
  draft: Draft
  user: User
}

export const EditPage = (props: Props) => (
  <div class="narrow">
    <PageHead
      title={`Change ${props.service.name}`}
      crumbs={[
        { href: '/services', name: 'Services' },
        { href: servicePath(props.service), name: props.service.name },
      ]}
    />
    <EditForm {...props} />
  </div>
)

/** Shows first what would change; the answer to that has the button that applies it. */
export const EditForm = ({ service, definition, template, draft, user }: Props) => {
  const outline = outlineOf(template, definition.values)
  return (
    <PostForm
      id="edit-form"
      class="form service-form"
      draft={draft}
      action={servicePath(service)}
      method="PUT"
      live
      hx-target="this"
      hx-swap="outerHTML"
      hx-disable="find button"
    >
      <FormError />
      <TextField
        name="name"
        label="Name"
        value={definition.name}
        required
        maxlength={60}
        autocomplete="off"
      />
      {definition.template === ownFile && <OwnFileFields definition={definition} />}
      <VariableFields
        variables={askedFor(template.variables)}
        draft={draft}
        kept={definition.values}
      />
      <PlaceFields
        draft={draft}
        version={template.about.version}
        hasPorts={outline.ports.length > 0}
        values={{
          version: definition.version,
          hostPort: definition.ports[0]?.port ?? null,
          domains: service.domains,
        }}
      />
      <DangerFields
        dangers={outline.dangers}
        allowed={definition.allowed}
        isAdmin={user.role === 'admin'}
      />
      <div class="form-actions">
        <ButtonLink variant="ghost" href={servicePath(service)}>
          Back
        </ButtonLink>
        <Button name="preview" value="1">
          Show what changes
        </Button>
      </div>
    </PostForm>
  )
}

const OwnFileFields = ({ definition }: Pick<Props, 'definition'>) => (
  <>
    <TextArea
      name="compose"
      label="Compose file"
      value={definition.compose}
      rows={14}
      required
      code
    />
    <TextArea
      name="env"
      label=".env beside it"
      rows={4}
      placeholder={definition.values.has(dotenv) ? 'as it is' : 'KEY=value'}
      hint={definition.values.has(dotenv) ? 'Left empty, it stays as it is.' : undefined}
      code
    />
  </>
)

type DifferenceProps = { service: Service; edit: Edit }

/** What would change and what that means; its button sends the form below it. */
export const DifferenceModal = (props: DifferenceProps) => (
  <hx-partial hx-target="#modal" hx-swap="innerHTML">
    <Modal title={<DifferenceTitle {...props} />}>
      <div class="form">
        <Differences {...props} />
        <ModalActions>
          {props.edit.changes.length > 0 && (
            <Button form="edit-form" data-close autofocus>
              {applyLabel(props)}
            </Button>
          )}
        </ModalActions>
      </div>
    </Modal>
  </hx-partial>
)

/** The same as a page, for a form that was sent without script: it goes along, to be sent again. */
export const DifferencePage = ({
  sent,
  ...props
}: DifferenceProps & { sent: { name: string; value: string }[] }) => (
  <PostForm class="form narrow" action={servicePath(props.service)} method="PUT">
    <h1>
      <DifferenceTitle {...props} />
    </h1>
    <HiddenFields fields={sent} />
    <Differences {...props} />
    <div class="form-actions start">
      {props.edit.changes.length > 0 && <Button>{applyLabel(props)}</Button>}
      <ButtonLink variant="outline" href={`${servicePath(props.service)}/edit`}>
        Back
      </ButtonLink>
    </div>
  </PostForm>
)

const applyLabel = ({ edit }: DifferenceProps) =>
  edit.remakes ? 'Apply and start' : 'Apply changes'

const DifferenceTitle = ({ service, edit }: DifferenceProps) =>
  edit.changes.length === 0 ? (
    <>Nothing changes</>
  ) : (
    <>
      Change <bdi>{service.name}</bdi>?
    </>
  )

const Differences = ({ service, edit }: DifferenceProps) =>
  edit.changes.length === 0 ? (
    <p>Everything is as it was.</p>
  ) : (
    <>
      <dl class="difference">
        {edit.changes.map((change) => (
          <Difference change={change} />
        ))}
      </dl>
      <Meaning service={service} edit={edit} />
    </>
  )

const Difference = ({ change: { label, from, to, secret } }: { change: Change }) => (
  <div>
    <dt>{label}</dt>
    <dd>
      {from === null && to === null ? (
        <span class="muted">{secret ? 'another secret value' : 'another text'}</span>
      ) : (
        <>
          <del>{from ?? 'none'}</del> <span aria-hidden="true">→</span> <ins>{to ?? 'none'}</ins>
        </>
      )}
    </dd>
  </div>
)

const Meaning = ({ service, edit: { remakes, volumes } }: { service: Service; edit: Edit }) => {
  if (!remakes) return <p>Its containers keep running.</p>
  return (
    <>
      <p>
        Its containers are created again
        {service.status === 'stopped' || service.status === 'failed' ? ' and started' : ''}; it
        isn’t reachable meanwhile. If it doesn’t start with the change, the change is undone.
      </p>
      {volumes.length > 0 && (
        <p>
          {volumes.length === 1 ? 'Its volume is kept: ' : 'Its volumes are kept: '}
          {volumes.map((name, index) => (
            <>
              {index > 0 && ', '}
              <code>{name}</code>
            </>
          ))}
          .
        </p>
      )}
    </>
  )
}

import { useContext } from 'hono/jsx'
import type { Child } from 'hono/jsx'
import type { Environment } from '../environments/store.ts'
import type { Server } from '../runtime/placement.ts'
import type { Template } from '../services/compose/template.ts'
import { askedFor } from '../services/compose/values.ts'
import { DetailFact } from '../services/connection.tsx'
import { FileFields } from '../services/file-fields.tsx'
import { ownFile } from '../services/own-file.ts'
import type { Service } from '../services/store.ts'
import { DialogHeading, InDialog, Modal, ModalActions, ModalForm } from '../web/dialog.tsx'
import type { Draft } from '../web/draft.ts'
import type { User } from '../web/factory.ts'
import { TextArea, TextField } from '../web/fields-view.tsx'
import { StatusBadge } from '../web/status-badge.tsx'
import type { Choices, Offered } from './choices.ts'
import type { ShownLink } from './json.ts'
import { linksPath } from './links-page.tsx'

const linksPage = (id: string) => ({ href: linksPath({ id }), name: 'Linked services' })

/** The first step of a new link: an existing service or a new one. */
export const ChooseService = ({
  environment,
  services,
  templates,
}: Choices & { environment: Environment }) => (
  <Modal
    title={
      <>
        Add a database to <bdi>{environment.name}</bdi>
      </>
    }
    from={linksPage(environment.id)}
    wide
  >
    <div class="form link-choices">
      {services.length > 0 && (
        <section aria-labelledby="existing-heading">
          <DialogHeading id="existing-heading">Your services</DialogHeading>
          <ul class="rows">
            {services.map((service) => (
              <li class="row service-row">
                <StatusBadge status={service.status} />
                <div class="row-main">
                  {service.isLinked ? (
                    <span class="row-title muted">
                      <bdi>{service.name}</bdi>
                    </span>
                  ) : (
                    <Choice environment={environment} asked={`service_id=${service.id}`}>
                      {service.name}
                    </Choice>
                  )}
                  <p class="row-facts">
                    <span>{service.template === ownFile ? 'your own file' : service.template}</span>
                    {service.isLinked && <span>already linked</span>}
                  </p>
                </div>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section aria-labelledby="new-heading">
        <DialogHeading id="new-heading">Create a new one</DialogHeading>
        {templates.length > 0 && (
          <ul class="rows">
            {templates.map(({ template, about }) => (
              <li class="row">
                <div class="row-main">
                  <Choice environment={environment} asked={`template=${template}`}>
                    {about.name}
                  </Choice>
                  <p class="row-facts">{about.description}</p>
                </div>
              </li>
            ))}
          </ul>
        )}
        <p class="muted">
          To link other software, create it under <a href="/services">Services</a> first.
        </p>
      </section>
      <ModalActions />
    </div>
  </Modal>
)

/** Links to the second step, which opens in the same dialog, if any. */
const Choice = ({
  environment,
  asked,
  children,
}: {
  environment: Environment
  asked?: string
  children: Child
}) => {
  const path = `${linksPath(environment)}/new${asked ? `?${asked}` : ''}`
  const here = { 'hx-get': path, 'hx-target': 'closest dialog', 'hx-swap': 'outerHTML' }
  return (
    <a class={asked ? 'row-link' : undefined} href={path} {...(useContext(InDialog) && here)}>
      <bdi>{children}</bdi>
    </a>
  )
}

type NewLinkProps = Offered & {
  environment: Environment
  /** An existing service, or one to be created with these fields. */
  of:
    | { service: Service }
    | { template: string; file: Template; suggestion: string; user: User; servers: Server[] }
  draft: Draft
}

/** The second step: the app's variables, and the name of a new service. */
export const NewLink = ({ environment, of, provided, proposed, draft }: NewLinkProps) => {
  const isNew = 'template' in of
  return (
    <ModalForm
      title={
        <>
          {isNew ? 'New' : 'Link'} <bdi>{isNew ? of.file.about.name : of.service.name}</bdi>
        </>
      }
      from={linksPage(environment.id)}
      action={linksPath(environment)}
      submit={isNew ? 'Create and link' : 'Link service'}
      draft={draft}
      wide
    >
      {isNew ? (
        <>
          <input type="hidden" name="template" value={of.template} />
          <TextField
            name="name"
            label="Name"
            value={of.suggestion}
            hint="The app reaches it by this name."
            required
            autocomplete="off"
          />
        </>
      ) : (
        <input type="hidden" name="service_id" value={of.service.id} />
      )}
      <LinkVariables provided={provided} variables={proposed} />
      {isNew && (
        <details open={asksForMore(of.file) || hasErrorsIn(draft)}>
          <summary>Settings of the service</summary>
          <div class="form">
            <FileFields {...of} />
          </div>
        </details>
      )}
      <p class="muted">
        <Choice environment={environment}>Choose another service</Choice>
      </p>
    </ModalForm>
  )
}

/** True when the template's defaults aren't enough to create it. */
const asksForMore = ({ variables }: Template) =>
  askedFor(variables).some(
    ({ required, generate, default: value }) => required && !generate && value === null,
  )

const hasErrorsIn = ({ errors }: Draft) =>
  Object.keys(errors).some((name) => !['name', 'variables'].includes(name))

export const EditLink = ({
  link,
  provided,
  draft,
}: Pick<Offered, 'provided'> & { link: ShownLink; draft: Draft }) => (
  <ModalForm
    title={
      <>
        Variables from <bdi>{link.service.name}</bdi>
      </>
    }
    from={linksPage(link.environmentId)}
    action={`/envs/${link.environmentId}/links/${link.id}`}
    method="PUT"
    submit="Save variables"
    draft={draft}
    wide
  >
    <LinkVariables
      provided={provided}
      variables={Object.fromEntries(link.variables.map(({ key, provides }) => [key, provides]))}
    />
    <p class="muted">Changes apply with the next deployment.</p>
  </ModalForm>
)

type LinkVariablesProps = Pick<Offered, 'provided'> & { variables: Record<string, string> }

const LinkVariables = ({ provided, variables }: LinkVariablesProps) => (
  <>
    <TextArea
      name="variables"
      label="Variables of the app"
      value={Object.entries(variables)
        .map((pair) => pair.join('='))
        .join('\n')}
      placeholder="DATABASE_URL=url"
      hint="One per line: the variable’s name in the app, =, and one of the names below. Leave empty for none."
      rows={Math.min(10, Math.max(3, Object.keys(variables).length))}
      code
    />
    {provided.length === 0 ? (
      <p class="note">Its file doesn’t declare variables, but the app can reach it by its name.</p>
    ) : (
      <div class="note provided">
        <DialogHeading>What it provides</DialogHeading>
        <dl class="facts">
          {provided.map(({ name, value, secret }) => (
            <DetailFact label={name} value={secret ? null : value} />
          ))}
        </dl>
      </div>
    )}
  </>
)

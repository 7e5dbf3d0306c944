import type { Child } from 'hono/jsx'
import type { Environment } from '../environments/store.ts'
import type { Template } from '../services/compose/template.ts'
import { askedFor } from '../services/compose/values.ts'
import { FileFields } from '../services/file-fields.tsx'
import { ownFile } from '../services/own-file.ts'
import type { Service } from '../services/store.ts'
import { Fact } from '../web/components.tsx'
import { Modal, ModalActions, ModalForm } from '../web/dialog.tsx'
import type { Draft } from '../web/draft.ts'
import type { User } from '../web/factory.ts'
import { TextArea, TextField } from '../web/fields-view.tsx'
import { LockIcon } from '../web/icons.tsx'
import { StatusBadge } from '../web/status-badge.tsx'
import type { Choices, Offered } from './choices.ts'
import type { ShownLink } from './json.ts'
import { linksPath } from './links-page.tsx'

/** The first step of a new link: which service, one that is there or a new one. */
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
    wide
  >
    <div class="form link-choices">
      {services.length > 0 && (
        <section aria-labelledby="existing-heading">
          <h3 id="existing-heading">Your services</h3>
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
                    {service.isLinked && <span>linked already</span>}
                  </p>
                </div>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section aria-labelledby="new-heading">
        <h3 id="new-heading">Create a new one</h3>
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
          Anything else that you run can be linked too: create it under{' '}
          <a href="/services">Services</a>, then come back.
        </p>
      </section>
      <ModalActions />
    </div>
  </Modal>
)

/** Leads to the second step, in the same dialog. */
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
  return (
    <a
      class={asked ? 'row-link' : undefined}
      href={path}
      hx-get={path}
      hx-target="closest dialog"
      hx-swap="outerHTML"
    >
      <bdi>{children}</bdi>
    </a>
  )
}

type NewLinkProps = Offered & {
  environment: Environment
  /** What is linked: a service that is there, or one that is created with these fields. */
  of: { service: Service } | { template: string; file: Template; suggestion: string; user: User }
  draft: Draft
}

/** The second step: which variables the app gets, and for a new service its name. */
export const NewLink = ({ environment, of, provided, proposed, draft }: NewLinkProps) => {
  const isNew = 'template' in of
  return (
    <ModalForm
      title={
        <>
          {isNew ? 'New' : 'Link'} <bdi>{isNew ? of.file.about.name : of.service.name}</bdi>
        </>
      }
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
            hint="What you call it here. The app reaches it by this name."
            required
            maxlength={60}
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
            <FileFields file={of.file} user={of.user} />
          </div>
        </details>
      )}
      <p class="muted">
        <Choice environment={environment}>Choose another service</Choice>
      </p>
    </ModalForm>
  )
}

/** Whether it can't be created with what the template says. */
const asksForMore = ({ variables }: Template) =>
  askedFor(variables).some(
    ({ required, generate, default: value }) => required && !generate && value === null,
  )

const hasErrorsIn = ({ errors }: Draft) =>
  Object.keys(errors).some((name) => !['name', 'variables'].includes(name))

/** For a link that is there: which variables the app gets. */
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
    <p class="muted">The app gets the change with its next deployment.</p>
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
      hint="One per line: the variable’s name in the app, =, and one of the names below. Leave empty to give it none."
      rows={Math.min(10, Math.max(3, Object.keys(variables).length))}
      code
    />
    {provided.length === 0 ? (
      <p class="note">
        Its file doesn’t say what it provides, but the app can reach it by its name.
      </p>
    ) : (
      <div class="note provided">
        <h3>What it provides</h3>
        <dl class="facts">
          {provided.map(({ name, value, secret }) => (
            <Fact name={name}>
              {secret ? (
                <span class="secret">
                  <LockIcon />
                  secret
                </span>
              ) : (
                <code>{value}</code>
              )}
            </Fact>
          ))}
        </dl>
      </div>
    )}
  </>
)

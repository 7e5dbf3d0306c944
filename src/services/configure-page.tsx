import { PageHead } from '../web/components.tsx'
import { FormError, TextArea, TextField } from '../web/fields-view.tsx'
import type { User } from '../web/factory.ts'
import { Button, ButtonLink, PostForm } from '../web/form.tsx'
import type { Draft } from '../web/draft.ts'
import { askedFor } from './compose/values.ts'
import type { Template } from './compose/template.ts'
import { DangerFields } from './danger-fields.tsx'
import type { Outline } from './outline.ts'
import { TemplateLinks } from './template-card.tsx'
import { VariableFields } from './variable-fields.tsx'

type Props = {
  name: string
  template: Template
  outline: Outline
  suggestion: string
  draft: Draft
  user: User
}

/** The form that makes an instance of a template. */
export const ConfigurePage = ({ name, template, outline, suggestion, draft, user }: Props) => {
  const { about, variables } = template
  return (
    <div class="narrow">
      <PageHead title={`New ${about.name}`} crumbs={[{ href: '/services', name: 'Services' }]} />
      <p class="subtitle">{about.description}</p>
      <TemplateLinks about={about} />
      <PostForm action={`/services/${name}`} class="form service-form" draft={draft}>
        <FormError />
        <TextField
          name="name"
          label="Name"
          value={suggestion}
          hint="What you call it here. It can be changed."
          required
          maxlength={60}
          autocomplete="off"
        />
        <VariableFields variables={askedFor(variables)} draft={draft} />
        <PlaceFields draft={draft} version={about.version} hasPorts={outline.ports.length > 0} />
        <DangerFields
          dangers={outline.dangers}
          allowed={ticked(draft)}
          isAdmin={user.role === 'admin'}
        />
        <WhatIsMade outline={outline} />
        <div class="form-actions">
          <ButtonLink variant="ghost" href="/services">
            Cancel
          </ButtonLink>
          <Button>Create and start</Button>
        </div>
      </PostForm>
    </div>
  )
}

/** What few change: the version and where it is reached. */
export const PlaceFields = ({
  draft,
  version,
  hasPorts,
  values = { hostPort: null, domains: [] },
}: {
  draft: Draft
  /** Empty where the file has none to choose. */
  version: string
  hasPorts: boolean
  values?: { version?: string; hostPort: number | null; domains: string[] }
}) => {
  const isWrong = ['version', 'host_port', 'domains'].some((name) => name in draft.errors)
  if (version === '' && !hasPorts) return null
  return (
    <details open={isWrong || undefined}>
      <summary>{version === '' ? 'Address' : 'Version and address'}</summary>
      <div class="form">
        <div class="field-row">
          {version !== '' && (
            <TextField
              name="version"
              label="Version"
              value={values.version ?? version}
              hint="A tag of its image."
              maxlength={128}
              autocomplete="off"
              code
            />
          )}
          {hasPorts && (
            <TextField
              name="host_port"
              label="Port of this host"
              value={values.hostPort}
              placeholder="any free one"
              type="number"
              min={1024}
              max={65535}
            />
          )}
        </div>
        {hasPorts && (
          <TextArea
            name="domains"
            label="Domains"
            value={values.domains.join('\n')}
            placeholder="app.example.com"
            hint="One a line. Kept for the proxy in front of services, which is not there yet."
            rows={2}
            code
          />
        )}
      </div>
    </details>
  )
}

/** Containers, ports and volumes that an instance gets. */
export const WhatIsMade = ({ outline: { services, ports, volumes } }: { outline: Outline }) =>
  services.length > 0 && (
    <section class="note">
      <h2>What is made</h2>
      <ul class="made">
        {services.map(({ name, image }) => (
          <li>
            Container <bdi>{name}</bdi> of <code>{image}</code>
          </li>
        ))}
        {ports.map(({ target, containerPort, protocol }) => (
          <li>
            A port of this host for <bdi>{target}</bdi>, port {containerPort}
            {protocol === 'udp' && '/udp'}
          </li>
        ))}
        {volumes.map((volume) => (
          <li>
            Volume <bdi>{volume}</bdi>, which stays when the containers go
          </li>
        ))}
        <li>A network of its own</li>
      </ul>
    </section>
  )

export const ticked = ({ values }: Draft) => (values.allowed ? [values.allowed] : [])

import type { Context } from 'hono'
import { useContext } from 'hono/jsx'
import type { Child } from 'hono/jsx'
import { readBody } from '../web/body.ts'
import { DraftContext, enterAgain } from '../web/draft.ts'
import type { Draft } from '../web/draft.ts'
import type { User } from '../web/factory.ts'
import { SelectField, TextArea, TextField } from '../web/fields-view.tsx'
import { firstServer } from '../platform/root.ts'
import type { Server } from '../runtime/placement.ts'
import type { Danger } from './compose/dangers.ts'
import { ofImage } from './compose/template.ts'
import type { Template } from './compose/template.ts'
import { askedFor } from './compose/values.ts'
import type { Variable } from './compose/variables.ts'
import type { Definition } from './definition.ts'
import { typedValues } from './forms.ts'
import { outlineOf } from './outline.ts'
import type { Outline } from './outline.ts'
import { serverOf } from './placement.ts'

type Props = {
  file: Template
  /** The definition to change. Of its secrets, only their presence is used. */
  kept?: Definition
  /** That it may run on. */
  servers: Server[]
  user: User
}

/** Fields that a file leaves to its user: variables, address, and access to the host. */
export const FileFields = (props: Props) => {
  const { file, kept } = props
  const { values } = useContext(DraftContext)
  const outline = outlineOf(file, new Map([...(kept?.values ?? []), ...typedValues(file, values)]))
  return (
    <>
      <VariableFields {...props} />
      <ServerField {...props} />
      <PlaceFields {...props} hasPorts={outline.ports.length > 0} />
      <DangerFields {...props} dangers={outline.dangers} />
      {!kept && <WhatIsMade {...outline} />}
      <Notes notes={outline.notes} />
    </>
  )
}

/** Fields that only the user can fill in come first, then those with generated values. */
const VariableFields = ({ file, kept }: Props) => {
  const variables = askedFor(file.variables)
  const made = variables.filter(({ generate }) => generate)
  const labels = made.map(({ label }) => label).join(', ')
  const fieldOf = (variable: Variable) => <VariableField {...variable} kept={kept} />
  return (
    <>
      {variables.filter(({ generate }) => !generate).map(fieldOf)}
      {made.length > 0 && (
        <Folded
          summary={kept ? 'Generated' : `Generated: ${labels}`}
          names={made.map(({ name }) => name)}
        >
          {made.map(fieldOf)}
        </Folded>
      )}
    </>
  )
}

const VariableField = ({ kept, ...variable }: Variable & { kept: Definition | undefined }) => {
  const { name, label, options, secret, generate, required } = variable
  const before = kept?.values.get(name)
  const value = kept ? (secret ? null : (before ?? null)) : variable.default
  const isKept = before !== undefined && (secret || generate !== null)
  if (options.length > 0)
    return (
      <SelectField
        {...{ name, label, value, secret }}
        hint={variable.description ?? undefined}
        options={[
          ...(secret && isKept
            ? [{ value: '', label: 'unchanged' }]
            : required || variable.default !== null
              ? []
              : [{ value: '', label: '—' }]),
          ...options.map((option) => ({ value: option, label: option })),
        ]}
      />
    )
  return (
    <TextField
      {...{ name, label, value }}
      hint={hintOf(variable, isKept)}
      type={secret ? 'password' : 'text'}
      placeholder={isKept ? 'unchanged' : generate ? 'generated' : ''}
      required={required && !generate && !isKept && variable.default === null}
      autocomplete={secret ? 'new-password' : 'off'}
      code
    />
  )
}

function hintOf({ description, generate, secret }: Variable, isKept: boolean) {
  const made = `Leave empty to generate one${secret ? ', stored encrypted' : ''}.`
  const empty = isKept ? 'Leave empty to keep it unchanged.' : generate && made
  return [description, empty].filter(Boolean).join(' ') || undefined
}

/** With one server there is no choice. */
const ServerField = ({ servers, kept }: Props) =>
  servers.length > 1 && (
    <SelectField
      name="placement"
      label="Server"
      value={kept && serverOf(kept)}
      hint="Its volumes are created there, and stay until it is moved."
      options={servers.map(({ id, name }) => ({
        value: id,
        label: id === firstServer ? `${name}, where Davit runs` : name,
      }))}
    />
  )

/** Rarely changed: the version, if there is a choice, and the address. */
const PlaceFields = ({ file, kept, hasPorts }: Props & { hasPorts: boolean }) => {
  const { version } = file.about
  if (version === '' && !hasPorts) return null
  return (
    <Folded
      summary={version === '' ? 'Address' : 'Version and address'}
      names={['version', 'host_port', 'domains']}
    >
      <div class="field-row">
        {version !== '' && (
          <TextField
            name="version"
            label="Version"
            value={kept?.version ?? version}
            hint="A tag of its image."
            autocomplete="off"
            code
          />
        )}
        {hasPorts && (
          <TextField
            name="host_port"
            label="Host port"
            value={kept?.ports[0]?.port}
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
          value={kept?.domains.join('\n')}
          placeholder="app.example.com"
          hint="One per line. The first one is the service’s address. Its Domains page shows the DNS records they need."
          rows={2}
          code
        />
      )}
    </Folded>
  )
}

type FoldedProps = { summary: string; names: string[]; children: Child }

/** Optional fields, open when one of them is invalid. */
const Folded = ({ summary, names, children }: FoldedProps) => {
  const { errors } = useContext(DraftContext)
  return (
    <details open={names.some((name) => name in errors) || undefined}>
      <summary>{summary}</summary>
      <div class="form">{children}</div>
    </details>
  )
}

/** Host access that a file requests. Only an admin can allow it. */
const DangerFields = ({ dangers, kept, user }: Props & { dangers: Danger[] }) => {
  const { values } = useContext(DraftContext)
  const allowed = values.allowed?.split('\n') ?? kept?.allowed ?? []
  const isAdmin = user.role === 'admin'
  if (dangers.length === 0) return null
  return (
    <fieldset class="dangers">
      <legend>Access to this server</legend>
      {isAdmin && <input type="hidden" name="allowed" value="" />}
      {dangers.map(({ key, message }, index) =>
        isAdmin ? (
          <div class="field check">
            <input
              type="checkbox"
              id={`danger-${index}`}
              name="allowed"
              value={key}
              checked={allowed.includes(key)}
            />
            <label for={`danger-${index}`}>{message}</label>
          </div>
        ) : (
          <p>{message}</p>
        ),
      )}
      <p class="hint">
        {isAdmin
          ? 'Select what you allow this service. Everything else is refused.'
          : 'Only an admin can allow this. Remove it from the file, or ask an admin.'}
      </p>
    </fieldset>
  )
}

const WhatIsMade = ({ services, ports, volumes }: Outline) =>
  services.length > 0 && (
    <section class="note">
      <h2>What will be created</h2>
      <ul class="made">
        {services.map(({ name, image }) => (
          <li>
            Container <bdi>{name}</bdi> of <code>{image}</code>
          </li>
        ))}
        {ports.map(({ target, containerPort, protocol }) => (
          <li>
            A host port for <bdi>{target}</bdi>,{' '}
            {containerPort === ofImage ? 'the port of its image' : `port ${containerPort}`}
            {protocol === 'udp' && '/udp'}
          </li>
        ))}
        {volumes.map((volume) => (
          <li>
            Volume <bdi>{volume}</bdi>, kept when the containers are removed
          </li>
        ))}
        <li>Its own network</li>
      </ul>
    </section>
  )

const Notes = ({ notes }: Pick<Outline, 'notes'>) =>
  notes.length > 0 && (
    <details class="note">
      <summary>What differs from the file ({notes.length})</summary>
      <ul class="made">
        {notes.map((note) => (
          <li>{note}</li>
        ))}
      </ul>
    </details>
  )

/** No page has a sent secret again: its field must not be taken for an empty one, which keeps or generates it. */
export async function drawnAgain(c: Context, draft: Draft, file: Template): Promise<Draft> {
  const typed = typedValues(file, (await readBody(c)).data)
  const lost = askedFor(file.variables).filter(({ name, secret }) => secret && typed.has(name))
  const errors = Object.fromEntries(lost.map(({ name }) => [name, enterAgain]))
  return { ...draft, errors: { ...errors, ...draft.errors } }
}

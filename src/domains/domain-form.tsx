import type { Child } from 'hono/jsx'
import { ModalForm } from '../web/dialog.tsx'
import type { Draft } from '../web/draft.ts'
import { Checkbox, SelectField, TextArea, TextField } from '../web/fields-view.tsx'
import { HttpsFields, httpsFields } from './https-fields.tsx'
import type { ShownDomain } from './json.ts'
import { listPath } from './owner.ts'
import type { DomainOwner } from './owner.ts'

type Props = {
  of: DomainOwner
  /** Null for a new one. */
  domain: ShownDomain | null
  /** Addresses that its name should resolve to. */
  expected: string[]
  isExternal: boolean
  draft: Draft
}

/** A new domain only needs its name; everything else is folded, and open when it is set. */
export const DomainForm = ({ of, domain, expected, isExternal, draft }: Props) => (
  <ModalForm
    title={
      domain ? (
        <>
          Edit <bdi>{domain.host}</bdi>
        </>
      ) : (
        'Add domain'
      )
    }
    from={{ href: listPath(of), name: 'Domains' }}
    action={domain ? `/domains/${domain.id}` : listPath(of)}
    {...(domain && { method: 'PUT' as const })}
    draft={draft}
    submit={domain ? 'Save changes' : 'Add domain'}
    upload
    wide
  >
    <TextField
      name="host"
      label="Domain"
      value={domain?.host}
      placeholder="app.example.com"
      hint={<HostHint expected={expected} />}
      autocomplete="off"
      inputmode="url"
      required
      autofocus={!domain}
      code
    />
    <Folded
      title={
        of.kind === 'service'
          ? 'Path, target, protocol and redirect'
          : 'Path, protocol and redirect'
      }
      fields={leading}
      {...{ domain, draft }}
    >
      <div class="field-row">
        <TextField
          name="path"
          label="Path"
          value={domain?.path === '/' ? '' : domain?.path}
          placeholder="/"
          hint="Only requests below this path. Leave empty for the whole domain."
          code
        />
        {of.kind === 'service' && (
          <TextField
            name="target"
            label="Target"
            value={domain?.target}
            placeholder="web:8080"
            hint="A component and its port. Leave empty for the first port that the service publishes."
            code
          />
        )}
      </div>
      <SelectField
        name="protocol"
        label="Protocol"
        value={domain?.protocol ?? 'http'}
        options={[
          { value: 'http', label: 'HTTP/1.1, with WebSockets' },
          { value: 'h2c', label: 'HTTP/2 without TLS (h2c), for gRPC' },
        ]}
        hint="What the app itself speaks, whatever visitors use."
      />
      <TextField
        name="redirect_to"
        label="Redirect to"
        value={domain?.redirectTo}
        placeholder="https://example.com"
        hint="Visitors are redirected there, with path and query. Leave empty to serve the app."
        code
      />
    </Folded>
    <Folded title="HTTPS" fields={httpsFields} {...{ domain, draft }}>
      <HttpsFields {...{ domain, isExternal }} />
    </Folded>
    <Folded title="Access" fields={entry} {...{ domain, draft }}>
      <TextArea
        name="basic_auth"
        secret
        label="Logins"
        value={domain?.basicAuth.map(({ username }) => username).join('\n')}
        placeholder="ada:a long password"
        hint={
          domain?.basicAuth.length
            ? 'One per line. A name alone keeps its password; name:password sets one. Leave empty to allow everyone.'
            : 'One name:password per line. Browsers ask for it. Leave empty to allow everyone.'
        }
        code
      />
      <TextArea
        name="allow_ips"
        label="Allowed addresses"
        value={domain?.allowIps.join('\n')}
        placeholder="203.0.113.0/24"
        hint="One IP address or range per line; all others are refused. Leave empty to allow all."
        code
      />
    </Folded>
    <Folded title="Headers, size limit and maintenance" fields={options} {...{ domain, draft }}>
      <TextArea
        name="headers"
        label="Response headers"
        value={
          domain &&
          Object.entries(domain.headers)
            .map((pair) => pair.join(': '))
            .join('\n')
        }
        placeholder="X-Frame-Options: DENY"
        hint="One Name: value per line. They override those of the app."
        code
      />
      <TextField
        name="max_body"
        label="Maximum request size (MiB)"
        value={domain?.maxBody}
        inputmode="numeric"
        placeholder="no limit"
        hint="Larger requests are refused with 413. Leave empty for no limit."
      />
      <Checkbox
        name="maintenance"
        label="Show a maintenance page instead of the app"
        value={domain?.maintenance ?? false}
      />
    </Folded>
  </ModalForm>
)

const HostHint = ({ expected }: Pick<Props, 'expected'>) => (
  <>
    A name that you own. Its DNS must point to{' '}
    {expected.length > 0 ? <code>{expected.join(', ')}</code> : 'this server'}.
  </>
)

type Fields = readonly string[]

const leading: Fields = ['path', 'target', 'protocol', 'redirect_to']
const entry: Fields = ['basic_auth', 'allow_ips']
const options: Fields = ['headers', 'max_body', 'maintenance']

/** Open when one of its fields is set, or was refused. */
const Folded = ({
  title,
  fields,
  domain,
  draft,
  children,
}: Pick<Props, 'domain' | 'draft'> & { title: string; fields: Fields; children: Child }) => (
  <details
    open={fields.some((name) => name in draft.errors || (domain !== null && isSet[name]!(domain)))}
  >
    <summary>{title}</summary>
    <div class="form">{children}</div>
  </details>
)

const isSet: Record<string, (domain: ShownDomain) => boolean> = {
  path: ({ path }) => path !== '/',
  target: () => false,
  protocol: ({ protocol }) => protocol !== 'http',
  redirect_to: ({ redirectTo }) => redirectTo !== null,
  https: ({ https }) => https !== 'auto',
  certificate: () => false,
  key: () => false,
  hsts: ({ hsts }) => hsts,
  basic_auth: ({ basicAuth }) => basicAuth.length > 0,
  allow_ips: ({ allowIps }) => allowIps.length > 0,
  headers: ({ headers }) => Object.keys(headers).length > 0,
  max_body: ({ maxBody }) => maxBody !== null,
  maintenance: ({ maintenance }) => maintenance,
}

import { ModalForm } from '../web/dialog.tsx'
import type { Draft } from '../web/draft.ts'
import { FoldedFields, namesIn, SchemaFields } from '../web/schema-fields.tsx'
import { domainForm } from './forms.ts'
import type { ShownDomain } from './json.ts'
import { listPath } from './owner.ts'
import type { DomainOwner } from './owner.ts'

type Props = {
  of: DomainOwner
  domain: ShownDomain | null
  expected: string[]
  /** True when the user's own Caddy serves, and gets certificates by its own settings. */
  isExternal: boolean
  draft: Draft
}

/** A new domain only needs its name; everything else is folded. */
export const DomainForm = ({ of, domain, expected, isExternal, draft }: Props) => {
  const form = {
    ...{ schema: domainForm, draft, values: domain ? textsOf(domain) : {} },
    more: {
      host: { hint: <HostHint expected={expected} /> },
      target: domain?.target ? { initial: domain.target } : {},
      https: {
        options: httpsOptions({ domain, isExternal }),
        ...(!domain && {
          hint: 'Automatic: Davit gets and renews the certificate. The same for all paths of the domain.',
        }),
        ...(isExternal && {
          hint: 'The same for all paths of the domain. Certificates can’t be uploaded with DAVIT_EDGE=external: add them to your Caddy.',
        }),
      },
      hsts: { isLone: !domain },
      basicAuth: domain?.basicAuth.length
        ? {
            hint: 'One per line. A name alone keeps its password; name:password sets one. Leave empty to allow everyone.',
          }
        : {},
    },
  }
  const isService = of.kind === 'service'
  const route = namesIn(domainForm, 'route').filter((name) => isService || name !== 'target')
  return (
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
      <SchemaFields {...form} names={['host']} autofocus={!domain} />
      <FoldedFields
        {...form}
        title={isService ? 'Path, target, protocol and redirect' : 'Path, protocol and redirect'}
        names={route}
      />
      <FoldedFields {...form} title="HTTPS" names={namesIn(domainForm, 'https')}>
        <SchemaFields {...form} names={['https']} />
        {!isExternal && (
          <fieldset class="own-certificate form">
            <legend>For your own certificate</legend>
            {domain?.https === 'own' && (
              <p class="muted">Leave these empty to keep the current certificate.</p>
            )}
            <SchemaFields {...form} names={['certificate']} />
            <Upload name="certificate" of="certificate" accept=".pem,.crt,.cer,text/*" />
            <SchemaFields {...form} names={['key']} />
            <Upload name="key" of="private key" accept=".pem,.key,text/*" />
          </fieldset>
        )}
        <SchemaFields {...form} names={['hsts']} />
      </FoldedFields>
      <FoldedFields {...form} title="Access" names={namesIn(domainForm, 'access')} />
      <FoldedFields
        {...form}
        title="Headers, size limit and maintenance"
        names={namesIn(domainForm, 'options')}
      />
    </ModalForm>
  )
}

/** As they stand in the form. */
const textsOf = ({ path, target: _, certificate: _status, ...shown }: ShownDomain) => {
  const { basicAuth, headers, ...others } = shown
  return {
    ...others,
    path: path === '/' ? '' : path,
    basicAuth: basicAuth.map(({ username }) => username),
    headers: Object.entries(headers).map((pair) => pair.join(': ')),
  }
}

/** An untouched form of a new domain chooses none: its name may have other paths, which share it. */
const httpsOptions = ({ domain, isExternal }: Pick<Props, 'domain' | 'isExternal'>) => [
  domain
    ? {
        value: 'auto',
        label: `Automatic: ${isExternal ? 'your Caddy has' : 'Davit gets and renews'} the certificate`,
      }
    : { value: '', label: 'Automatic, or as the domain’s other paths' },
  ...(isExternal && domain?.https !== 'own'
    ? []
    : [{ value: 'own', label: 'Your own certificate' }]),
  { value: 'off', label: 'Off: HTTP only' },
]

const HostHint = ({ expected }: Pick<Props, 'expected'>) => (
  <>
    A name that you own. Its DNS must point to{' '}
    {expected.length > 0 ? <code>{expected.join(', ')}</code> : 'this server'}.
  </>
)

/** A certificate is pasted or uploaded. */
const Upload = ({ name, of, accept }: { name: string; of: string; accept: string }) => (
  <div class="field upload">
    <label for={`field-${name}_file`}>or {of} as a file</label>
    <input
      id={`field-${name}_file`}
      class="input"
      type="file"
      name={`${name}_file`}
      accept={accept}
    />
  </div>
)

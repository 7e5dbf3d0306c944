import { isLocalhost } from '../platform/hosts.ts'
import { AppAddress } from '../web/components.tsx'
import { Button, PostForm } from '../web/form.tsx'
import { DeleteButton, DialogButton } from '../web/row-actions.tsx'
import { Badge } from '../web/status-badge.tsx'
import { Ago, In } from '../web/times.tsx'
import type { ShownDomain } from './json.ts'
import { listPath } from './owner.ts'
import type { AddressesView } from './page-view.ts'
import { DnsRecords } from './records.tsx'
import { inMaintenance, lookOf, problemOf } from './status.ts'
import { counted } from '../web/units.ts'
import { domainToASCII, domainToUnicode } from 'node:url'

type Props = { domain: ShownDomain; view: AddressesView }

export const DomainRow = ({ domain, view }: Props) => {
  const { id, host, path, url } = domain
  const name = path === '/' ? host : host + path
  const inWords = hostInWords(host)
  const isOff = view.off !== null
  const look = lookOf(domain, view)
  return (
    <li class="row domain-row" id={`d${id}`}>
      <Badge {...look} />
      <div class="row-main">
        <p class="row-title">
          {isOff ? <bdi>{name}</bdi> : <AppAddress url={url} />}{' '}
          {inWords && (
            <span class="muted">
              (<bdi>{inWords}</bdi>)
            </span>
          )}
        </p>
        <Facts domain={domain} isUnsaid={look !== inMaintenance} />
      </div>
      {id !== '' && <Actions domain={domain} name={name} />}
      <Problem {...{ domain, view }} />
      <RedirectOffer {...{ domain, view }} />
    </li>
  )
}

type FactsProps = Pick<Props, 'domain'> & {
  /** True when its badge says another state than maintenance. */
  isUnsaid: boolean
}

const Facts = ({ domain, isUnsaid }: FactsProps) => {
  const { id, target, protocol, redirectTo, dns, hsts, basicAuth, allowIps, headers, maxBody } =
    domain
  const headerCount = Object.keys(headers).length
  return (
    <p class="row-facts">
      {id === '' && <span>added automatically</span>}
      {isUnsaid && domain.maintenance && <span>in maintenance</span>}
      {redirectTo !== null ? (
        <span>
          redirects to <bdi>{redirectTo}</bdi>
        </span>
      ) : (
        target && (
          <span>
            points to <code>{target}</code>
          </span>
        )
      )}
      {protocol === 'h2c' && <span>HTTP/2 without TLS</span>}
      <Https domain={domain} />
      {dns.ok !== false && dns.found.length > 0 && (
        <span>
          DNS <code>{dns.found.slice(0, 4).join(', ')}</code>
        </span>
      )}
      {hsts && <span>HTTPS only (HSTS)</span>}
      {basicAuth.length > 0 && <span>login: {counted(basicAuth.length, 'user')}</span>}
      {allowIps.length > 0 && (
        <span>
          only from{' '}
          {allowIps.length > 2 ? (
            counted(allowIps.length, 'range')
          ) : (
            <code>{allowIps.join(', ')}</code>
          )}
        </span>
      )}
      {headerCount > 0 && <span>{counted(headerCount, 'header')}</span>}
      {maxBody !== null && <span>requests up to {maxBody} MiB</span>}
    </p>
  )
}

const Https = ({ domain: { host, https, certificate } }: Pick<Props, 'domain'>) => {
  if (https === 'off' || isLocalhost(host)) return <span>HTTP only</span>
  if (!certificate?.notAfter)
    return (
      <span>{certificate?.status === 'pending' ? 'HTTPS is being set up' : 'no HTTPS yet'}</span>
    )
  const { issuer, notAfter } = certificate
  return (
    <span>
      {https === 'own' ? 'own certificate' : 'HTTPS'}
      {issuer && (
        <>
          {' '}
          by <bdi>{issuer}</bdi>
        </>
      )}
      {notAfter > new Date() ? ', ends ' : ', ended '}
      {notAfter > new Date() ? <In at={notAfter} /> : <Ago at={notAfter} />}
    </span>
  )
}

const Actions = ({ domain, name }: Pick<Props, 'domain'> & { name: string }) => {
  const { id, redirectTo, maintenance } = domain
  const path = `/domains/${id}`
  return (
    <div class="row-actions">
      {redirectTo === null && (
        <PostForm action={path} method="PUT">
          <input type="hidden" name="maintenance" value={maintenance ? '0' : '1'} />
          <Button
            variant="outline"
            small
            aria-label={`${maintenance ? 'End' : 'Start'} maintenance of ${name}`}
          >
            {maintenance ? 'End maintenance' : 'Start maintenance'}
          </Button>
        </PostForm>
      )}
      <DialogButton path={path} label={`Edit ${name}`}>
        Edit
      </DialogButton>
      <DeleteButton
        path={path}
        label={`Delete ${name}`}
        question={{
          text: `Delete ${name}? Visitors get an error page instead. The app keeps running.`,
          answer: 'Delete domain',
        }}
      >
        Delete
      </DeleteButton>
    </div>
  )
}

const Problem = ({ domain, view }: Props) => {
  const { id, host, dns, certificate } = domain
  const rejected = view.rejected.get(host)
  const problem = rejected
    ? { message: rejected.message, hint: rejected.hint, records: [] }
    : view.off === null && problemOf(domain)
  if (!problem) return null
  const nextTryAt = certificate?.status === 'failed' ? certificate.nextTryAt : null
  return (
    <div class="row-note" role="status">
      <p dir="auto">{problem.message}</p>
      <DnsRecords host={host} addresses={problem.records} found={dns.found} />
      {problem.hint && (
        <p class="muted" dir="auto">
          {problem.hint}
        </p>
      )}
      {!rejected && id !== '' && (
        <PostForm class="row-check" action={`/domains/${id}/check`}>
          <Button variant="outline" small aria-label={`Check ${host} now`}>
            Check now
          </Button>
          <span class="muted">
            {dns.checkedAt && (
              <>
                checked <Ago at={dns.checkedAt} />
              </>
            )}
            {nextTryAt && nextTryAt > new Date() && (
              <>
                , next try <In at={nextTryAt} />
              </>
            )}
          </span>
        </PostForm>
      )}
    </div>
  )
}

const RedirectOffer = ({ domain, view }: Props) => {
  const offer = domain.id !== '' && view.redirectOf(domain)
  return (
    offer && (
      <PostForm class="row-offer" action={listPath(view.of)}>
        <input type="hidden" name="host" value={offer.host} />
        <input type="hidden" name="redirect_to" value={offer.to} />
        <span class="muted">
          Visitors also type <bdi>{offer.host}</bdi>.
        </span>
        <Button variant="ghost" small>
          Redirect {offer.host} here
        </Button>
      </PostForm>
    )
  )
}

/**
 * The Unicode form of an international name, for display beside its ASCII form. Null when both are the same,
 * or when it has anything but letters, digits, dots and hyphens of one script.
 */
export function hostInWords(host: string): string | null {
  if (!host.includes('xn--')) return null
  const text = domainToUnicode(host)
  if (text === '' || text === host || domainToASCII(text) !== host) return null
  return text.split('.').every(isPlain) ? text : null
}

/** Mixed scripts in one word can imitate another name. */
const isPlain = (label: string) =>
  /^[\p{L}\p{M}\p{Nd}-]+$/u.test(label) && scripts.some((script) => script.test(label))

const scripts = [
  /^[\p{Script=Latin}\p{M}\p{Nd}-]+$/u,
  /^[\p{Script=Greek}\p{M}\p{Nd}-]+$/u,
  /^[\p{Script=Cyrillic}\p{M}\p{Nd}-]+$/u,
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Lm}\p{Nd}-]+$/u,
  /^[\p{Script=Hangul}\p{Script=Han}\p{Nd}-]+$/u,
  /^[\p{Script=Arabic}\p{M}\p{Nd}-]+$/u,
  /^[\p{Script=Hebrew}\p{M}\p{Nd}-]+$/u,
  /^[\p{Script=Devanagari}\p{M}\p{Nd}-]+$/u,
  /^[\p{Script=Thai}\p{M}\p{Nd}-]+$/u,
]

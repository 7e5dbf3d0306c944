import { EnvironmentFrame } from '../environments/environment-frame.tsx'
import type { EnvironmentHead } from '../environments/head.ts'
import { isLoopback } from '../platform/hosts.ts'
import { serviceCrumbs } from '../services/own-service.ts'
import { AppAddress, EmptyState, PageHead, Trouble } from '../web/components.tsx'
import { Button, ButtonLink, PostForm } from '../web/form.tsx'
import { Live } from '../web/live.tsx'
import { DomainRow } from './domain-row.tsx'
import { listPath } from './owner.ts'
import type { DomainOwner } from './owner.ts'
import type { AddressesView } from './page-view.ts'
import { DnsRecords } from './records.tsx'

export const DomainsPage = ({
  head,
  ...view
}: AddressesView & {
  head: EnvironmentHead | null
}) => {
  const { of } = view
  if (of.kind === 'environment')
    return (
      head && (
        <EnvironmentFrame head={head} tab="domains">
          <DomainList {...view} />
        </EnvironmentFrame>
      )
    )
  return (
    <>
      <PageHead title="Domains" doc="edge#names" crumbs={serviceCrumbs(of.service)} />
      <DomainList {...view} />
    </>
  )
}

export const DomainList = (view: AddressesView) => {
  const { domains, byItself, byPort } = view
  const rows = byItself ? [...domains, byItself] : domains
  return (
    <Live as="section" id="domains" aria-label="Domains">
      <EdgeNote {...view} />
      {domains.length > 0 && (
        <div class="actions tab-actions">
          <AddDomain of={view.of} />
        </div>
      )}
      {rows.length > 0 && (
        <ul class="rows">
          {rows.map((domain) => (
            <DomainRow domain={domain} view={view} />
          ))}
        </ul>
      )}
      {domains.length === 0 && <NoDomains {...view} />}
      {byPort && (
        <p class="domains-end muted">
          {isHere(byPort) ? 'On this server it is at' : 'It is also at'}{' '}
          {byPort.startsWith('http') ? <AppAddress url={byPort} /> : <code>{byPort}</code>}
        </p>
      )}
    </Live>
  )
}

const AddDomain = ({ of }: { of: DomainOwner }) => (
  <ButtonLink icon="plus" opens={`${listPath(of)}/new`}>
    Add domain
  </ButtonLink>
)

/** Says why domains aren't served correctly, and what to do; empty when they are. */
export const EdgeNote = ({ off, trouble }: Pick<AddressesView, 'off' | 'trouble'>) => {
  const failure = off ?? trouble
  return (
    failure && (
      <Trouble
        title={off ? 'Domains are off' : 'Caddy needs attention'}
        hint={failure.hint}
        role="status"
      >
        <p dir="auto">{failure.message}</p>
      </Trouble>
    )
  )
}

const isHere = (url: string) => isLoopback(new URL(url).hostname)

const NoDomains = ({ of, byItself, freeHost, expected, off }: AddressesView) => (
  <EmptyState title={byItself ? 'No custom domain yet' : 'No domain yet'}>
    <p>
      Point a name that you own to this server and add it here. HTTPS is set up automatically
      {of.kind === 'environment' && ', and deployments have no downtime'}.
    </p>
    <DnsRecords host="app.example.com" addresses={expected} />
    <AddDomain of={of} />
    {freeHost && !byItself && !off && (
      <PostForm class="free-name" action={listPath(of)}>
        <input type="hidden" name="host" value={freeHost} />
        <p>
          No domain yet? <code>{freeHost}</code> already points here: sslip.io has a free name for
          every address.
        </p>
        <Button variant="outline">Use a free name</Button>
      </PostForm>
    )}
  </EmptyState>
)

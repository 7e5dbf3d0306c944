import { isEnded } from '../deployments/store.ts'
import { deploymentPath } from '../projects/deployment-list.tsx'
import { ServiceLogo } from '../services/service-logo.tsx'
import { CommitRef, hostOf, UploadRef } from '../web/components.tsx'
import { ButtonLink } from '../web/form.tsx'
import { Icon } from '../web/icons.tsx'
import { NothingFound, Pages } from '../web/listing.tsx'
import type { ActivitySort, Listed, Listing } from '../web/listing.tsx'
import { Monogram } from '../web/logo.tsx'
import { Badge, StatusBadge } from '../web/status-badge.tsx'
import { Ago } from '../web/times.tsx'
import type { Attention } from './attention.ts'
import type { Row } from './rows.ts'

export const AttentionList = ({ items, all }: { items: Attention[]; all: number }) =>
  items.length > 0 && (
    <section class="attention" aria-labelledby="attention-heading">
      <h2 id="attention-heading">
        <Icon name="triangle-alert" />
        Needs attention <span class="count">{all}</span>
      </h2>
      <ul class="rows">
        {items.map(({ look, name, href, message, action }) => (
          <li class="row attention-row">
            <Badge {...look} />
            <div class="row-main">
              <a class="row-link" href={href}>
                <bdi>{name}</bdi>
              </a>
              <p class="attention-message" dir="auto">
                <bdi>{message}</bdi>
              </p>
            </div>
            <ButtonLink
              {...{ small: true, variant: 'outline', href: action.href }}
              aria-label={`${action.name}: ${name}`}
            >
              {action.name}
            </ButtonLink>
          </li>
        ))}
      </ul>
      {items.length < all && (
        <p>
          <a href="/dashboard?attention=all#attention-heading">And {all - items.length} more</a>
        </p>
      )}
    </section>
  )

type RunningProps = { list: Listed<Row>; listing: Listing<ActivitySort> }

export const Running = ({ list, listing }: RunningProps) => {
  if (list.all === 0) return null
  return (
    <>
      {list.total === 0 ? (
        <NothingFound path="/dashboard">
          No app or service has “<bdi>{listing.q}</bdi>” in its name.
        </NothingFound>
      ) : (
        <ul class="rows">
          {list.items.map((row) => (
            <RowView {...row} />
          ))}
        </ul>
      )}
      <Pages {...{ path: '/dashboard', listing, list }} />
    </>
  )
}

const RowView = (row: Row) => (
  <li class="row home-row" id={`row-${row.id}`}>
    {row.kind === 'app' ? (
      <Monogram name={row.app.project} seed={row.app.projectId} />
    ) : (
      <ServiceLogo service={row.service} />
    )}
    <div class="row-main">
      <a class="row-link" href={row.href}>
        {row.kind === 'app' ? (
          <>
            <bdi>{row.app.project}</bdi> / <bdi>{row.app.name}</bdi>
          </>
        ) : (
          <bdi>{row.name}</bdi>
        )}
      </a>
      <div class="row-facts">
        {row.kind === 'service' && <span>{row.service.template}</span>}
        {row.kind === 'service' && row.service.version && <code>{row.service.version}</code>}
        {row.url && (
          <a class="app-link" href={row.url} rel="noreferrer" target="_blank">
            {hostOf(row.url)}
            <Icon name="external-link" />
            <span class="visually-hidden">(opens in a new tab)</span>
          </a>
        )}
        {row.current?.commitHash && (
          <CommitRef hash={row.current.commitHash} message={row.current.commitMessage} />
        )}
        {row.current?.upload && <UploadRef {...row.current.upload} />}
        {row.current?.pullReference && <bdi>{row.current.pullReference}</bdi>}
      </div>
    </div>
    <p class="row-end">
      {row.kind === 'app' ? (
        row.latest && <Ago at={row.latest.createdAt} />
      ) : (
        <Ago at={row.service.releasedAt ?? row.service.createdAt} />
      )}
    </p>
    <State {...row} />
  </li>
)

const State = ({ look, latest }: Row) =>
  latest && !isEnded(latest.status) ? (
    <a class="status-link" href={deploymentPath(latest)}>
      <StatusBadge status={latest.status} />
    </a>
  ) : (
    <Badge {...look} />
  )

export const LandingPage = ({ mayRegister }: { mayRegister: boolean }) => (
  <div class="hero">
    <h1>From a git URL to a running app</h1>
    <p>
      Davit fetches your repository, builds it, starts it, and checks that it responds. On your own
      server, in one process.
    </p>
    <p class="actions">
      <a class="btn" data-size="lg" href="/login">
        Log in
      </a>
      {mayRegister && (
        <a class="btn" data-variant="outline" data-size="lg" href="/auth/register">
          Register
        </a>
      )}
    </p>
    <ol class="hero-steps" aria-label="How it works">
      <li>
        <strong>Clone</strong> the exact commit
      </li>
      <li>
        <strong>Build</strong> the image, live in your browser
      </li>
      <li>
        <strong>Deploy</strong> it, and roll back with one press
      </li>
    </ol>
  </div>
)

import { EmptyState, hostOf, MoreLink, PageHead, Trouble } from '../web/components.tsx'
import type { Entry, Refused } from './catalogue.ts'
import { ownFile } from './own-file.ts'
import type { About } from './compose/template.ts'
import type { ShownService } from './shown.ts'
import { servicePath } from './own-service.ts'
import { ServiceLogo } from './service-logo.tsx'
import { Logo } from '../web/logo.tsx'
import { Live } from '../web/live.tsx'
import { StatusBadge } from '../web/status-badge.tsx'
import { Button, ButtonLink } from '../web/form.tsx'

type Instances = { items: ShownService[]; nextCursor: string | null }

type Search = {
  entries: Entry[]
  /** Not filtered by the search. */
  all: Entry[]
  q: string
  category: string
}

/** Shows running instances, and the catalogue below. */
export const ServicesPage = ({
  instances,
  search,
  refused,
}: {
  instances: Instances
  search: Search
  /** Unusable files of the operator's directory, for admins. */
  refused: Refused[]
}) => (
  <>
    <PageHead title="Services" doc="services">
      <ButtonLink icon="database" variant="outline" href="/backups">
        All backups
      </ButtonLink>
      <ButtonLink icon="file-up" variant="outline" href="/services/compose/configure">
        Bring your own
      </ButtonLink>
    </PageHead>
    <InstanceList {...instances} />
    <section aria-labelledby="catalogue-heading">
      <div class="section-head">
        <h2 id="catalogue-heading">Catalogue</h2>
        <SearchForm {...search} />
      </div>
      <RefusedFiles refused={refused} />
      <CatalogueList {...search} />
    </section>
  </>
)

const InstanceList = ({ items, nextCursor }: Instances) => (
  <Live as="section" id="instances" aria-label="Your services">
    {items.length === 0 ? (
      <EmptyState title="No services yet">
        <p>
          A database, a queue or a whole application, each with its own network and volumes. Choose
          one below, or use a Compose file.
        </p>
        <ButtonLink variant="outline" href="/services/compose/configure">
          Use a Compose file
        </ButtonLink>
      </EmptyState>
    ) : (
      <ul class="rows">
        {items.map((shown) => (
          <Instance {...shown} />
        ))}
      </ul>
    )}
    <MoreLink href="/services" nextCursor={nextCursor} />
  </Live>
)

const Instance = ({ service, status, url, containers }: ShownService) => {
  return (
    <li class="row service-row" id={`s${service.id}`}>
      <ServiceLogo service={service} images={containers?.map(({ image }) => image)} />
      <div class="row-main">
        <a class="row-link" href={servicePath(service)}>
          <bdi>{service.name}</bdi>
        </a>
        <p class="row-facts">
          <span>{service.template === ownFile ? 'your own file' : service.template}</span>
          {service.version && <code>{service.version}</code>}
          {containers && containers.length > 1 && <span>{containers.length} containers</span>}
          {url && <code>{hostOf(url)}</code>}
        </p>
      </div>
      {service.deletingAt && <p class="row-end">being deleted</p>}
      <StatusBadge status={status} />
    </li>
  )
}

const SearchForm = ({ all, q, category }: Search) => (
  <form
    class="catalogue-search"
    role="search"
    action="/services"
    hx-get="/services"
    hx-trigger="input delay:200ms, change, submit"
    hx-target="#catalogue"
    hx-swap="outerHTML"
  >
    <input
      class="input"
      type="search"
      name="q"
      value={q}
      placeholder="Search"
      aria-label="Search the catalogue"
      maxlength={100}
    />
    <select class="select" name="category" aria-label="Category">
      <option value="">All categories</option>
      {[...new Set(all.map((e) => e.about.category))].sort().map((name) => (
        <option value={name} selected={name === category}>
          {name}
        </option>
      ))}
    </select>
    <noscript>
      <Button variant="outline">Search</Button>
    </noscript>
  </form>
)

export const CatalogueList = ({ entries, q }: Search) => (
  <div id="catalogue">
    {entries.length === 0 ? (
      <EmptyState title="Nothing found">
        <p>
          {q ? (
            <>
              No template has “<bdi>{q}</bdi>” in its name, description or tags.
            </>
          ) : (
            'No template is in this category.'
          )}{' '}
          You can also use any Compose file.
        </p>
        <ButtonLink href="/services/compose/configure">Bring your own</ButtonLink>
      </EmptyState>
    ) : (
      <ul class="cards catalogue">
        {entries.map((entry) => (
          <TemplateCard entry={entry} />
        ))}
      </ul>
    )}
  </div>
)

/** The whole card links to the template's form. */
const TemplateCard = ({ entry: { template, about } }: { entry: Entry }) => (
  <li class="template-card">
    <Logo of={template} name={about.name} />
    <h3>
      <a class="row-link" href={`/services/${template}/configure`}>
        <bdi>{about.name}</bdi>
      </a>
    </h3>
    <p>{about.description}</p>
    <p class="row-facts">
      <span>{about.category}</span>
      <code>{about.version}</code>
    </p>
  </li>
)

/** Links to the software's own websites. */
export const TemplateLinks = ({ about: { links } }: { about: Pick<About, 'links'> }) => {
  const entries = Object.entries(links)
  if (entries.length === 0) return null
  return (
    <p class="template-links">
      {entries.map(([name, href]) => (
        <a href={href} rel="noreferrer" target="_blank">
          {words[name] ?? name}
          <span class="visually-hidden"> (opens in a new tab)</span>
        </a>
      ))}
    </p>
  )
}

const words: Record<string, string> = {
  website: 'Website',
  docs: 'Documentation',
  source: 'Source',
}

const RefusedFiles = ({ refused }: { refused: Refused[] }) =>
  refused.length > 0 && (
    <Trouble title="Templates that couldn’t be loaded" role="status">
      <ul>
        {refused.map(({ file, message }) => (
          <li>{message.startsWith(file) ? message : `${file}: ${message}`}</li>
        ))}
      </ul>
    </Trouble>
  )

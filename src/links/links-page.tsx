import { ChangesNote, EnvironmentFrame } from '../environments/environment-frame.tsx'
import type { EnvironmentHead } from '../environments/head.ts'
import type { Environment } from '../environments/store.ts'
import { EmptyState } from '../web/components.tsx'
import { ButtonLink } from '../web/form.tsx'
import { Live } from '../web/live.tsx'
import { DeleteButton, DialogButton } from '../web/row-actions.tsx'
import { StatusBadge } from '../web/status-badge.tsx'
import type { ShownLink } from './json.ts'

type LinksPageProps = { head: EnvironmentHead; links: ShownLink[] }

/** Shows the services that an environment's app can reach. */
export const LinksPage = ({ head, links }: LinksPageProps) => (
  <EnvironmentFrame head={head} tab="services">
    <ChangesNote environment={head.environment}>
      {links.length > 0 && <AddDatabase environment={head.environment} />}
    </ChangesNote>
    <LinkList links={links} environment={head.isDeleting ? null : head.environment} />
  </EnvironmentFrame>
)

/** Opens the dialog that links or creates a service. */
export const AddDatabase = ({
  environment,
  small = false,
}: {
  environment: Pick<Environment, 'id'>
  small?: boolean
}) => {
  const path = `${linksPath(environment)}/new`
  return (
    <ButtonLink variant={small ? 'outline' : undefined} small={small} opens={path}>
      Add database
    </ButtonLink>
  )
}

type LinkListProps = Pick<LinksPageProps, 'links'> & {
  /** The environment in which a first one can be added. */
  environment: Pick<Environment, 'id'> | null
}

export const LinkList = ({ links, environment }: LinkListProps) => (
  <Live as="section" id="links" aria-label="Linked services">
    {links.length === 0 ? (
      <EmptyState title="No database yet">
        <p>
          Add a database, a cache or a queue. The app reaches it by name, and gets its address and
          password as variables.
        </p>
        {environment && <AddDatabase environment={environment} />}
      </EmptyState>
    ) : (
      <ul class="rows">
        {links.map((link) => (
          <LinkRow link={link} />
        ))}
      </ul>
    )}
  </Live>
)

const LinkRow = ({ link }: { link: ShownLink }) => {
  const { service, host, variables } = link
  return (
    <li class="row service-row" id={`l${link.id}`}>
      <StatusBadge status={service.status} />
      <div class="row-main">
        <a class="row-title" href={`/services/${service.id}`}>
          <bdi>{service.name}</bdi>
        </a>
        <p class="row-facts">
          <span>
            host <code>{host}</code>
          </span>
          {variables.length === 0 ? (
            <span>no variables</span>
          ) : (
            variables.map(({ key }) => <code>{key}</code>)
          )}
        </p>
      </div>
      <div class="row-actions">
        <DialogButton path={linkPath(link)} label={`Edit the link to ${service.name}`}>
          Edit
        </DialogButton>
        <DeleteButton
          path={linkPath(link)}
          label={`Remove the link to ${service.name}`}
          question={{
            text: `Remove the link to ${service.name}? The running app keeps it until its next deployment. The service and its data stay.`,
            answer: 'Remove link',
          }}
        >
          Remove
        </DeleteButton>
      </div>
    </li>
  )
}

/** Shows the list; forms post to it. */
export const linksPath = ({ id }: Pick<Environment, 'id'>) => `/envs/${id}/links`

const linkPath = ({ id, environmentId }: Pick<ShownLink, 'id' | 'environmentId'>) =>
  `/envs/${environmentId}/links/${id}`

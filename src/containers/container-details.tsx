import type { Child } from 'hono/jsx'
import { deploymentPath } from '../projects/deployment-list.tsx'
import { shownImage } from '../runtime/images/private-names.ts'
import { Fact } from '../web/components.tsx'
import { CopyButton } from '../web/copy.tsx'
import { Icon } from '../web/icons.tsx'
import { bytes } from '../web/units.ts'
import type { ContainerView } from './container-view.ts'
import { Ports } from './container-row.tsx'
import { processText } from './row.ts'
import type { ShownVariable } from './shown-environment.ts'

type Container = ContainerView['container']

export const ContainerDetails = ({ view }: { view: ContainerView }) => {
  const { container, environment, texts } = view
  const labels = Object.entries(texts?.labels ?? {}).filter(([key]) => !key.startsWith('davit.'))
  return (
    <section class="container-details" aria-labelledby="details-heading">
      <h2 id="details-heading">Configuration</h2>
      <dl class="container-facts">
        <Origin view={view} />
        {view.server && (
          <Fact name="Server">
            <bdi>{view.server}</bdi>
          </Fact>
        )}
        <Fact name="Image">
          <code>{shownImage(container.image)}</code>
        </Fact>
        <Fact name="Id">
          <code>{container.id.slice(0, 12)}</code>
          <CopyButton text={container.id} what="the container’s id" />
        </Fact>
        <Fact name="Command">
          {texts ? <code>{texts.command.map(quoted).join(' ')}</code> : 'hidden'}
        </Fact>
        <Fact name="Limits">{limits(container)}</Fact>
        <Fact name="Restarts">{policies[container.restartPolicy.name]}</Fact>
        {container.user && <Fact name="User">{container.user}</Fact>}
        {container.privileged && (
          <Fact name="Rights">
            <span class="telling">privileged: it has full access to this server</span>
          </Fact>
        )}
        <Fact name="Ports">
          {container.ports.length > 0 ? <Ports ports={container.ports} /> : exposed(container)}
        </Fact>
        <Fact name="Networks">
          <Lines of={container.networks.map(networkText)} />
        </Fact>
        <Fact name="Mounts">
          <Lines of={container.mounts.map(mountText)} />
        </Fact>
      </dl>
      <Environment variables={environment} />
      {labels.length > 0 && (
        <Pairs title="Labels" pairs={labels.map(([key, value]) => ({ key, value }))} />
      )}
    </section>
  )
}

/** A link if the user may open the page, else plain text. */
const Origin = ({ view: { place, isOwner } }: { view: ContainerView }) => {
  if (place.kind === 'other') return <Fact name="Made by">not Davit</Fact>
  const { project, environment, process, deployment, service } = place
  if (service)
    return (
      <Fact name="Service">
        <OwnLink isOwner={isOwner} href={`/services/${service.id}`}>
          <bdi>{service.name}</bdi>
        </OwnLink>
      </Fact>
    )
  if (!project || !deployment) return <Fact name="Made by">Davit</Fact>
  return (
    <>
      <Fact name="Deployment">
        <OwnLink
          isOwner={isOwner}
          href={deploymentPath({ projectId: project.id, id: deployment.id })}
        >
          <bdi>{project.name}</bdi>, <bdi>{environment?.name}</bdi>
        </OwnLink>
      </Fact>
      {process && (
        <Fact name="Process">
          <bdi>{processText(process)}</bdi>
        </Fact>
      )}
    </>
  )
}

const OwnLink = ({
  isOwner,
  href,
  children,
}: {
  isOwner: boolean
  href: string
  children: Child
}) => (isOwner ? <a href={href}>{children}</a> : <>{children}</>)

const Environment = ({ variables }: { variables: ShownVariable[] }) =>
  variables.length > 0 && (
    <Pairs
      title="Environment"
      pairs={variables.map(({ key, value, note }) => ({
        key,
        value: value ?? (
          <span class="secret">
            <Icon name="lock" />
            *** <small>{note}</small>
          </span>
        ),
      }))}
    />
  )

const Pairs = ({ title, pairs }: { title: string; pairs: { key: string; value: Child }[] }) => (
  <details class="container-pairs">
    <summary>
      {title} <span class="count">{pairs.length}</span>
    </summary>
    <dl>
      {pairs.map(({ key, value }) => (
        <div>
          <dt>
            <code>{key}</code>
          </dt>
          <dd dir="auto">{value}</dd>
        </div>
      ))}
    </dl>
  </details>
)

const Lines = ({ of }: { of: string[] }) =>
  of.length === 0 ? (
    <span class="muted">none</span>
  ) : (
    <ul>
      {of.map((line) => (
        <li>
          <code>{line}</code>
        </li>
      ))}
    </ul>
  )

const policies: Record<Container['restartPolicy']['name'], string> = {
  no: 'never',
  always: 'always',
  'unless-stopped': 'unless stopped',
  'on-failure': 'on failure',
}

function limits({ memoryLimit, cpus, pidsLimit }: Container) {
  const memory = memoryLimit === null ? 'unlimited memory' : bytes(memoryLimit)
  const processors = cpus === null ? 'all processors' : `${cpus} CPU`
  return [
    memory,
    processors,
    pidsLimit === null ? 'unlimited processes' : `${pidsLimit} processes`,
  ].join(', ')
}

const exposed = ({ exposedPorts }: Container) =>
  exposedPorts.length === 0
    ? 'none'
    : `${exposedPorts.map(({ container }) => container).join(', ')}, not published`

const networkText = ({ name, address }: Container['networks'][number]) =>
  address ? `${name} (${address})` : name

const mountText = ({ type, source, destination, readOnly }: Container['mounts'][number]) =>
  `${source ?? type} → ${destination}${readOnly ? ' (read only)' : ''}`

const quoted = (word: string) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))

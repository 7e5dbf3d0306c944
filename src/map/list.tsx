import type { Child } from 'hono/jsx'
import { Fact } from '../web/components.tsx'
import { Badge } from '../web/status-badge.tsx'
import type { MapNode } from './graph.ts'
import type { Holder, Part } from './part.ts'
import { factsOf, fullName } from './text.ts'
import { rateText } from './traffic.ts'

type Props = { part: Part }

/** The drawing as text: each app with its addresses, processes and services. */
export const MapList = ({ part }: Props) => (
  <section class="map-list" aria-labelledby="map-list-heading">
    <h2 id="map-list-heading">As a list</h2>
    {part.groups.map(({ project, apps }) => (
      <section>
        <h3>
          <a href={`/projects/${project.id}`}>
            <bdi>{project.name}</bdi>
          </a>
        </h3>
        <Apps {...{ apps, part }} />
      </section>
    ))}
    <Services part={part} />
  </section>
)

/** Replaces the drawing where there is no room for it. */
export const ProjectMapList = ({ part }: Props) => (
  <div class="map-instead">
    <section>
      <h3>Apps</h3>
      <Apps apps={part.groups.flatMap(({ apps }) => apps)} part={part} />
    </section>
    <Services part={part} />
  </div>
)

const Apps = ({ apps, part }: Props & { apps: Holder[] }) => (
  <ul class="rows">
    {apps.map((app) => (
      <Row holder={app}>
        <Processes node={app.node} />
        <Nodes name="Uses" nodes={part.uses.get(app.node.id) ?? []} />
      </Row>
    ))}
  </ul>
)

const Services = ({ part }: Props) =>
  part.services.length > 0 && (
    <section>
      <h3>Services</h3>
      <ul class="rows">
        {part.services.map((service) => (
          <Row holder={service}>
            <Users nodes={part.users.get(service.node.id) ?? []} />
          </Row>
        ))}
      </ul>
    </section>
  )

const Row = ({
  holder: { node, domains, hidden },
  children,
}: {
  holder: Holder
  children: Child
}) => (
  <li class="row map-row" id={`map-row-${node.id}`}>
    <Badge {...node.look} />
    <div class="row-main">
      <p class="row-title">
        <NodeLink node={node} />
      </p>
      <p class="row-facts">
        {[node.note, rateText(node.traffic)].map((fact) => fact && <span>{fact}</span>)}
      </p>
      <dl class="map-details">
        {domains.length > 0 && (
          <Fact name="Addresses">
            {domains.map((domain, at) => (
              <>
                {at > 0 && ', '}
                <NodeLink node={domain} /> ({factsOf(domain).join(', ')})
              </>
            ))}
            {hidden > 0 && <More count={hidden} href={domains[0]!.href} />}
          </Fact>
        )}
        {children}
      </dl>
    </div>
    <a class="map-stops" href={`/map?focus=${node.id}`}>
      If it stops <span class="visually-hidden">({fullName(node)})</span>
    </a>
  </li>
)

const Processes = ({ node: { processes } }: { node: MapNode }) =>
  processes.length > 0 && (
    <Fact name="Processes">
      {processes.map(({ name, running, wanted, look }, at) => (
        <>
          {at > 0 && ', '}
          <bdi>{name}</bdi> ({look.word}, {running} of {wanted})
        </>
      ))}
    </Fact>
  )

const Users = ({ nodes }: { nodes: MapNode[] }) =>
  nodes.length > 0 ? <Nodes name="Used by" nodes={nodes} /> : <Fact name="Used by">No app</Fact>

/** Nodes that are named before the rest is only counted. */
const mostNamed = 10

const Nodes = ({ name, nodes }: { name: string; nodes: MapNode[] }) =>
  nodes.length > 0 && (
    <Fact name={name}>
      <Names nodes={nodes} />
    </Fact>
  )

export const Names = ({ nodes }: { nodes: MapNode[] }) => (
  <>
    {nodes.slice(0, mostNamed).map((node, at) => (
      <>
        {at > 0 && ', '}
        <NodeLink node={node} isWhole /> ({node.look.word})
      </>
    ))}
    {nodes.length > mostNamed && ` and ${nodes.length - mostNamed} more`}
  </>
)

/** `isWhole` adds the project's name to an app's. */
export const NodeLink = ({ node, isWhole = false }: { node: MapNode; isWhole?: boolean }) => (
  <a href={node.href}>
    {isWhole && node.kind === 'app' && (
      <>
        <bdi>{node.project!.name}</bdi> /{' '}
      </>
    )}
    <bdi>{node.name}</bdi>
  </a>
)

const More = ({ count, href }: { count: number; href: string }) => (
  <>
    {' '}
    and <a href={href}>{count} more</a>
  </>
)

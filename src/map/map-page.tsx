import type { Child } from 'hono/jsx'
import { EmptyState, PageHead } from '../web/components.tsx'
import { Live } from '../web/live.tsx'
import { Button, ButtonLink } from '../web/form.tsx'
import { Badge } from '../web/status-badge.tsx'
import { Drawing, MapScript } from './drawing.tsx'
import type { MapGraph, MapNode } from './graph.ts'
import { MapList, Names, NodeLink } from './list.tsx'
import { isTroubled } from './part.ts'
import type { Part, Reach } from './part.ts'
import { counted } from '../web/units.ts'

type Project = { id: string; name: string }

type MapPageProps = {
  graph: MapGraph
  projects: Project[]
  project: Project | null
  reach: Reach | null
  /** The first item of this page, and its content. */
  from: number
  part: Part
}

export const MapPage = ({ graph, projects, project, reach, from, part }: MapPageProps) => (
  <>
    <PageHead title="Map" doc="logs#the-map">
      {projects.length > 1 && projects.length <= mostOffered && (
        <ProjectChoice {...{ projects, project }} />
      )}
    </PageHead>
    <Live id="map">
      {graph.nodes.length === 0 ? (
        <EmptyState title="Nothing is connected yet">
          <p>
            Create a project first. Its apps appear here with their domains, and with the databases
            that you add to them.
          </p>
          <ButtonLink icon="plus" href="/projects/new">
            New project
          </ButtonLink>
        </EmptyState>
      ) : (
        <>
          {reach ? <Impact reach={reach} /> : <Summary graph={graph} project={project} />}
          <Drawing {...{ part, reach }} />
          <MapList part={part} />
          <Pages {...{ from, next: part.next, project, reach }} />
        </>
      )}
    </Live>
    <MapScript />
  </>
)

/** More projects than this would make the list as long as the map; each project's own page links here. */
const mostOffered = 100

const ProjectChoice = ({ projects, project }: Pick<MapPageProps, 'projects' | 'project'>) => (
  <form class="map-choice" method="get" action="/map">
    <label class="visually-hidden" for="map-project">
      Project
    </label>
    <select id="map-project" name="project" class="select">
      <option value="">All projects</option>
      {projects.map(({ id, name }) => (
        <option value={id} selected={id === project?.id}>
          {name}
        </option>
      ))}
    </select>
    <Button variant="outline">Show</Button>
  </form>
)

const Summary = ({ graph, project }: Pick<MapPageProps, 'graph' | 'project'>) => {
  const nodes = project
    ? graph.nodes.filter((node) => node.project?.id === project.id)
    : graph.nodes
  const count = (kind: MapNode['kind'], ...names: [one: string, many?: string]) =>
    counted(nodes.filter((node) => node.kind === kind).length, ...names)
  const troubled = nodes.filter(isTroubled)
  return (
    <div class="map-summary">
      <p>
        {count('domain', 'address', 'addresses')}, {count('app', 'app')}
        {!project && `, ${count('service', 'service')}`}.{' '}
        {troubled.length === 0
          ? 'Nothing needs attention.'
          : troubled.length === 1
            ? 'One needs attention:'
            : `${troubled.length} need attention:`}
      </p>
      {troubled.length > 0 && (
        <ul class="map-troubled">
          {troubled.slice(0, mostTroubled).map((node) => (
            <li>
              <Badge {...node.look} /> <NodeLink node={node} isWhole />
            </li>
          ))}
          {troubled.length > mostTroubled && <li>and {troubled.length - mostTroubled} more</li>}
        </ul>
      )}
      <p class="muted map-hint">
        Select an app, a service or an address to see what stops working with it.
      </p>
    </div>
  )
}

/** Nodes with a problem that are named above the map. */
const mostTroubled = 6

const Impact = ({ reach: { node, dependents, needs } }: { reach: Reach }) => {
  const own = dependents.filter(({ kind, holder }) => kind === 'domain' && holder === node.id)
  const ofApps = dependents.filter(({ kind, holder }) => kind === 'domain' && holder !== node.id)
  const apps = dependents.filter(({ kind }) => kind === 'app')
  return (
    <section class="map-impact" aria-labelledby="map-impact-heading">
      <header>
        <h2 id="map-impact-heading">
          If <NodeLink node={node} isWhole /> stops
        </h2>
        <Badge {...node.look} />
        <ButtonLink small variant="outline" href="/map">
          Show everything
        </ButtonLink>
      </header>
      <ul>
        <Consequence
          nodes={apps}
          one="This app can no longer reach it"
          several="These apps can no longer reach it"
        />
        <Consequence
          nodes={own}
          one="This address won’t respond"
          several="These addresses won’t respond"
        />
        <Consequence
          nodes={ofApps}
          one="This address leads to an app that needs it, and may show errors"
          several="These addresses lead to apps that need it, and may show errors"
        />
        {dependents.length === 0 && <li>Nothing else here depends on it.</li>}
        <Consequence nodes={needs} one="It needs" several="It needs" />
      </ul>
      <p class="muted map-hint">
        In the drawing, what stops with it has a thick outline, and what it needs a dashed one.
      </p>
    </section>
  )
}

const Consequence = ({
  nodes,
  one,
  several,
}: {
  nodes: MapNode[]
  one: string
  several: string
}): Child =>
  nodes.length > 0 && (
    <li>
      {nodes.length === 1 ? one : several}: <Names nodes={nodes} />.
    </li>
  )

const Pages = ({
  from,
  next,
  project,
  reach,
}: Pick<MapPageProps, 'from' | 'project' | 'reach'> & { next: number | null }) => {
  if (from === 0 && next === null) return null
  const at = (start: number) => {
    const query = new URLSearchParams({
      ...(project && { project: project.id }),
      ...(reach && { focus: reach.node.id }),
      ...(start > 0 && { from: String(start) }),
    })
    return `/map${query.size > 0 ? `?${query}` : ''}`
  }
  return (
    <p class="more actions">
      {from > 0 && (
        <ButtonLink variant="outline" href={at(0)}>
          Back to the first page
        </ButtonLink>
      )}
      {next !== null && (
        <ButtonLink variant="outline" href={at(next)}>
          Show more
        </ButtonLink>
      )}
    </p>
  )
}

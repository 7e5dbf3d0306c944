import { z } from 'zod'
import type { JSX } from 'hono/jsx/jsx-runtime'
import { notFound } from '../platform/errors.ts'
import { factory } from '../web/factory.ts'
import { line, whole } from '../web/fields.ts'
import { query } from '../web/query.ts'
import { show } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import { readGraph } from './graph.ts'
import type { MapDeps } from './graph.ts'
import { mapJson } from './json.ts'
import { MapPage } from './map-page.tsx'
import { partOf, reachOf } from './part.ts'
import { listOwnProjects } from '../git/store.ts'
import type { Project } from '../projects/store.ts'
import { ButtonLink } from '../web/form.tsx'
import { Drawing, MapScript } from './drawing.tsx'
import { ProjectMapList } from './list.tsx'

const mapQuery = z.object({
  project: line('the id of a project', { max: 100 }).optional(),
  focus: line('the id of a node', { max: 100 }).optional(),
  from: whole('where the page begins', { min: 0, max: 100_000 }).default(0),
})

export const mapRoutes = (deps: MapDeps) =>
  factory.createApp().get('/map', query(mapQuery), (c) => {
    const { project: projectId, focus, from } = c.req.valid('query')
    const ownerId = userOf(c).id
    const projects = listOwnProjects(deps.db, ownerId)
    const project = projects.find(({ id }) => id === projectId) ?? null
    if (projectId && !project) throw notFound('project')
    const graph = readGraph(deps, ownerId)
    const chosen = graph.nodes.find(({ id }) => id === focus)
    if (focus && !chosen) throw notFound('node of the map')
    const reach = chosen ? reachOf(graph, chosen) : null
    return show(c, {
      title: project ? `Map of ${project.name}` : 'Map',
      page: () => {
        const part = partOf(graph, { ...(projectId && { projectId }), reach, from })
        return <MapPage {...{ graph, projects, project, reach, from, part }} />
      },
      live: {},
      json: () => mapJson(graph, { project, reach }),
    })
  })

/** A section of the project's page; null if nothing is connected. */
export const projectMap =
  (deps: MapDeps) =>
  ({ id, ownerId }: Pick<Project, 'id' | 'ownerId'>): JSX.Element | null => {
    const part = partOf(readGraph(deps, ownerId), { projectId: id })
    if (part.edges.length === 0) return null
    return (
      <section aria-labelledby="project-map-heading">
        <div class="section-head">
          <h2 id="project-map-heading">Connections</h2>
          <ButtonLink small variant="outline" href={`/map?project=${id}`}>
            Open the map
          </ButtonLink>
        </div>
        <Drawing part={part} reach={null} />
        <ProjectMapList part={part} />
        <MapScript />
      </section>
    )
  }

import type { JSX } from 'hono/jsx/jsx-runtime'
import type { Project } from '../projects/store.ts'
import { ButtonLink } from '../web/form.tsx'
import { Drawing, MapScript } from './drawing.tsx'
import { readGraph } from './graph.ts'
import type { MapDeps } from './graph.ts'
import { ProjectMapList } from './list.tsx'
import { partOf } from './part.ts'

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

import { AppError } from '../platform/errors.ts'
import type { Service, LinkedEnvironment } from './store.ts'

/** Shows the environments whose apps use a service, and how to link one. */
export const UsedBy = ({ linked }: { linked: LinkedEnvironment[] }) => (
  <section aria-labelledby="used-by-heading">
    <h2 id="used-by-heading">Used by</h2>
    {linked.length === 0 ? (
      <p class="muted">
        No app is linked to it. Choose “Add database” in an environment of a project to link one.
      </p>
    ) : (
      <LinkedList linked={linked} />
    )}
  </section>
)

/** Shows which apps lose the service that is being deleted. */
export const UsedByWarning = ({ linked }: { linked: LinkedEnvironment[] }) =>
  linked.length > 0 && (
    <>
      <input type="hidden" name="force" value="1" />
      <div class="alert" data-variant="destructive">
        <strong>
          {linked.length === 1 ? 'An app uses it' : `${linked.length} apps use it`} and will lose
          access to it.
        </strong>
        <section>
          <LinkedList linked={linked} />
        </section>
      </div>
    </>
  )

const LinkedList = ({ linked }: { linked: LinkedEnvironment[] }) => (
  <ul class="names">
    {linked.map(({ id, name, projectId, project }) => (
      <li>
        <a href={`/projects/${projectId}/envs/${id}`}>
          <bdi>{project}</bdi> / <bdi>{name}</bdi>
        </a>
      </li>
    ))}
  </ul>
)

const maxNamed = 20

export function refuseUsed({ name }: Service, linked: LinkedEnvironment[]) {
  if (linked.length === 0) return
  const named = linked.slice(0, maxNamed).map((of) => `${of.project} / ${of.name}`)
  const others = linked.length - named.length
  const names = named.join(', ') + (others > 0 ? ` and ${others} more` : '')
  throw new AppError(
    'conflict',
    `${name} is linked to ${names}. Remove these links first, or delete it with force: true.`,
  )
}

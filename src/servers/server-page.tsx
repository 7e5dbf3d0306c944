import type { DiskSpace } from '../platform/disk-space.ts'
import { ButtonLink } from '../web/form.tsx'
import { counted } from '../web/units.ts'
import { EdgeNote } from './server-edge.tsx'
import type { ServerEdge } from './server-edge.tsx'
import { ServerFacts } from './server-facts.tsx'
import type { ServerUse } from './server-facts.tsx'
import type { listUsers, Server } from './store.ts'

type Props = {
  server: Server
  edge: ServerEdge
  use: ServerUse
  disk: DiskSpace | null
  users: ReturnType<typeof listUsers>
}

/** More are in the list of containers. */
const maxShown = 100

/** What a server has and uses, and what runs there. */
export const ServerDetails = ({ server: { name, ...server }, edge, use, disk, users }: Props) => (
  <div class="server-details">
    <ServerFacts {...{ server, edge, use, disk }} />
    <EdgeNote {...edge} />
    <p class="muted">
      Processor and memory are what its apps and services use. The disk is the one with Docker’s
      data, measured every hour.
    </p>
    <div class="section-head">
      <h2>What runs here</h2>
      <ButtonLink small variant="outline" href={`/containers?q=${encodeURIComponent(name)}`}>
        All containers
      </ButtonLink>
    </div>
    {users.length === 0 ? (
      <p class="muted">No apps or services.</p>
    ) : (
      <ul class="rows">
        {users.slice(0, maxShown).map((user) => (
          <li>
            <a class="row-link" href={user.href}>
              <bdi>{user.name}</bdi>
            </a>
            <span class="muted">
              {user.containers > 0 ? counted(user.containers, 'container') : 'placed here'}
            </span>
          </li>
        ))}
        {users.length > maxShown && (
          <li class="muted">and {(users.length - maxShown).toLocaleString('en')} more</li>
        )}
      </ul>
    )}
  </div>
)

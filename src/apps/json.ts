import { hasPort } from '../environments/processes.ts'
import type { PendingChanges } from '../deployments/settings.ts'
import type { Environment } from '../environments/store.ts'
import type { ShownLink } from '../links/json.ts'
import type { Live } from './live.ts'

type Shown = {
  url: string | null
  live: Live | null
  links: ShownLink[]
  pending: PendingChanges
}

/** An environment as programs see it, with what runs there. */
export const environmentJson = (
  { deletingAt, procfile, ...environment }: Environment,
  { url, live, links, pending }: Shown,
) => ({
  ...environment,
  hostPort: hasPort(environment) ? environment.hostPort : null,
  url,
  links,
  pendingChanges: pending.names,
  live,
  deleting: deletingAt !== null,
})

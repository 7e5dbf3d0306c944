import { hasPort } from '../environments/processes.ts'
import type { PendingChanges } from '../deployments/settings.ts'
import type { Environment } from '../environments/store.ts'
import type { ShownLink } from '../links/json.ts'
import type { Live } from './live.ts'

type ShownApp = {
  /** The hosts of its addresses. */
  domains: string[]
  url: string | null
  live: Live | null
  links: ShownLink[]
  pending: PendingChanges
}

/** For the API, with its live deployment. */
export const environmentJson = (
  { deletingAt, procfile, label, portSet, ...environment }: Environment,
  { domains, url, live, links, pending }: ShownApp,
) => ({
  ...environment,
  hostPort: hasPort(environment) ? environment.hostPort : null,
  domains,
  url,
  links,
  pendingChanges: pending.names,
  live,
  deleting: deletingAt !== null,
})

import { hasPort } from '../environments/processes.ts'
import type { PendingChanges } from '../deployments/settings.ts'
import type { Environment } from '../environments/store.ts'
import type { Live } from './live.ts'

type Shown = {
  url: string | null
  live: Live | null
  pending: PendingChanges
}

/** An environment as programs see it, with what runs there. */
export const environmentJson = (
  { deletingAt, procfile, ...environment }: Environment,
  { url, live, pending }: Shown,
) => ({
  ...environment,
  hostPort: hasPort(environment) ? environment.hostPort : null,
  url,
  pendingChanges: pending.names,
  live,
  deleting: deletingAt !== null,
})

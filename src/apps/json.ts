import { hasPort } from '../environments/processes.ts'
import type { Environment } from '../environments/store.ts'
import type { Live } from './live.ts'

type Shown = {
  url: string | null
  live: Live | null
}

/** An environment as programs see it, with what runs there. */
export const environmentJson = (
  { deletingAt, procfile, ...environment }: Environment,
  { url, live }: Shown,
) => ({
  ...environment,
  hostPort: hasPort(environment) ? environment.hostPort : null,
  url,
  live,
  deleting: deletingAt !== null,
})

import type { UsagePoller } from '../containers/usage/poller.ts'
import type { Db } from '../db/index.ts'
import type { ServerUse } from '../servers/server-facts.tsx'
import { listHeldContainers } from './store.ts'

/** What apps and services use on each server, as far as it was measured. */
export function useByServer({ db, usage }: { db: Db; usage: Pick<UsagePoller, 'latest'> }) {
  const uses = new Map<string, ServerUse>()
  for (const { serverId, containerId } of listHeldContainers(db)) {
    const use = uses.getOrInsertComputed(serverId, () => ({ cpu: 0, memory: 0 }))
    const measured = usage.latest(containerId!)?.usage
    use.cpu += measured?.cpu ?? 0
    use.memory += measured?.memory ?? 0
  }
  return uses
}

export const useOf = (uses: Map<string, ServerUse>, serverId: string) =>
  uses.get(serverId) ?? { cpu: 0, memory: 0 }

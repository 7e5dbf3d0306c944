import type { Db } from '../../src/db/index.ts'
import { firstServer } from '../../src/platform/root.ts'
import { insertServer } from '../../src/servers/store.ts'

/** The id of the nth server; the first one is Davit's own. */
export const serverId = (n: number) => firstServer.replace(/1$/, String(n))

/** Stores servers with these labels, as after a join: server1, server2 and so on. */
export function storeServers(
  db: Db,
  labels: Record<string, string>[],
  addressOf = (n: number) => `198.51.100.${n}`,
) {
  for (const [at, own] of labels.entries()) {
    const n = at + 1
    insertServer(db, {
      ...{ id: serverId(n), name: `server${n}`, address: addressOf(n), labels: own },
      ...{ nodeId: `node${n}`, engine: '28.5.2', cpus: 2, memoryMb: 2048 },
    })
  }
}

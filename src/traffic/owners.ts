import { keyOf } from '../edge/plan.ts'
import { listAllDomains, listEdgePorts, listLabelled } from '../addresses/store.ts'
import { ownChangesOf } from '../db/queries.ts'
import type { Db } from '../db/index.ts'
import { timeOfId } from '../db/new-id.ts'

type Owner = { sourceId: string; since: number; row: string }

/** Maps a host, a host with a path, or a port to its owner in the database. */
export class Owners {
  readonly #deps: { db: Db; config: { domain: string | null } }
  #owners = new Map<string, Owner>()
  #changes: number | undefined

  constructor(deps: { db: Db; config: { domain: string | null } }) {
    this.#deps = deps
  }

  /** Reloads the owners if the database has changed. */
  look() {
    const changes = ownChangesOf(this.#deps.db)
    if (changes !== this.#changes) this.#owners = this.#read()
    this.#changes = changes
  }

  /** The environment or service; null without an owner, or if it became the owner after that time. */
  of(key: string, time: number): string | null {
    const owner = this.#owners.get(key)
    return owner && owner.since <= time ? owner.sourceId : null
  }

  #read() {
    const { db, config } = this.#deps
    const owners = new Map<string, Owner>()
    const rows = new Set([...this.#owners.values()].map(({ row }) => row))
    const add = (key: string, sourceId: string, { id, row = id }: { id: string; row?: string }) => {
      const before = this.#owners.get(key)
      const isRenamed = before?.row !== row && rows.has(row)
      const since = before?.row === row ? before.since : isRenamed ? Date.now() : sinceOf(id)
      owners.set(key, { sourceId, since, row })
    }
    for (const { id, label } of config.domain ? listLabelled(db) : [])
      add(`${label}.${config.domain}`, id, { id })
    for (const { id, port } of listEdgePorts(db))
      add(String(port), id, { id, row: `port of ${id}` })
    for (const { id, host, path, environmentId, serviceId } of listAllDomains(db))
      add(keyOf(host, { path }), environmentId ?? serviceId!, { id })
    return owners
  }
}

/** An id may be in the future after the clock was set back: the time is then unknown. */
function sinceOf(id: string) {
  const time = timeOfId(id) ?? 0
  return time > Date.now() ? 0 : time
}

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { planOf } from '../addresses/plan.ts'
import type { Config } from '../config.ts'
import { installationIn } from '../db/copy.ts'
import { openExisting } from '../db/index.ts'
import type { Db } from '../db/index.ts'
import { edgeAddresses } from '../domains/public-address.ts'
import { Failure } from '../platform/errors.ts'

type Current = Disposable & { db: Db; instanceId: string }

/** Null when there is no readable database of this version, which another check reports. */
export function openCurrent({ dataDir }: Pick<Config, 'dataDir'>): Current | null {
  const path = join(dataDir, 'davit.db')
  try {
    const installation = existsSync(path) ? installationIn(path) : null
    if (!installation) return null
    const db = openExisting(path)
    return { db, instanceId: installation.id, [Symbol.dispose]: () => db.$client.close() }
  } catch (error) {
    if (error instanceof Failure) return null
    throw error
  }
}

/** The hosts that the edge should serve. Secrets stay sealed, since the key isn't read. */
export const planIn = (db: Db, config: Config) =>
  planOf({ db, config, secrets: { open: () => '' } })

export function readPlan(config: Config) {
  using opened = openCurrent(config)
  if (!opened) return null
  const { db, instanceId } = opened
  return { instanceId, edges: edgeAddresses(db), ...planIn(db, config) }
}

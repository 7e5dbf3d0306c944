import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { sync, writeFileAtomically } from '../../platform/atomic-write.ts'
import { journal as log } from '../../platform/journal.ts'
import type { Layout } from '../layout.ts'
import { jsonOrNull } from '../../platform/json.ts'

export type Places = ReturnType<typeof placesOf>

export const placesOf = ({ executable, unit, upgrades }: Layout) => ({
  executable,
  /** In the same directory, so that files replace each other atomically. */
  draft: `${executable}.new`,
  previous: `${executable}.previous`,
  /** A link to the old executable, which systemd runs while an upgrade is open. Nothing else replaces it. */
  keeper: `${executable}.keeper`,
  state: upgrades,
  /** Makes systemd run the hooks around a start while an upgrade is open. */
  dropIn: join(`${unit}.d`, 'upgrade.conf'),
})

const text = z.string().max(4096)

const upgrade = z.object({
  /**
   * swap: the next start installs the new executable. trial: it is installed and must respond.
   * revert: the old one is being restored. done, reverted: the upgrade is over.
   */
  phase: z.enum(['swap', 'trial', 'revert', 'done', 'reverted']),
  from: text,
  to: text,
  dataDir: text,
  /** The databases that are copied before the new version opens them. */
  databases: z.array(z.enum(['davit.db', 'logs.db'])),
  /** Seconds that the new version has to start. */
  timeout: z.number(),
  backup: text,
  startedAt: z.number(),
  /** The reason for a revert. */
  why: text.optional(),
})

export type Upgrade = z.infer<typeof upgrade>

const fileIn = ({ state }: Places) => join(state, 'upgrade.json')

/** The upgrade whose files still exist; null when there is none. */
export function readJournal(places: Places): Upgrade | null {
  let content: string
  try {
    content = readFileSync(fileIn(places), 'utf8')
  } catch {
    return null
  }
  const read = upgrade.safeParse(jsonOrNull(content))
  if (read.success) return read.data
  // writes are atomic, so someone edited it: Davit must start all the same
  log.warn('the journal of an upgrade can’t be read, so it is ignored')
  return null
}

/** Once it returns, the journal and every earlier rename are on disk. */
export function writeJournal(places: Places, state: Upgrade) {
  mkdirSync(places.state, { recursive: true, mode: 0o700 })
  writeFileAtomically(fileIn(places), `${JSON.stringify(state, null, 2)}\n`)
  sync(places.state)
}

export function removeJournal(places: Places) {
  rmSync(fileIn(places), { force: true })
  sync(places.state)
}

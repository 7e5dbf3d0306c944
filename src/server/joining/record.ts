import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { writeFileAtomically } from '../../platform/atomic-write.ts'
import { Failure } from '../../platform/errors.ts'
import type { Layout } from '../layout.ts'

/** All that davit join does on a server: davit leave undoes what it lists. */
export type Record = {
  /** Davit’s address. */
  davit: string
  name: string
  address: string
  files: string[]
  ports: string[]
  /** False when it was there before. */
  hasMadeUser: boolean
  hasCopiedExecutable: boolean
}

/** Null when this server hasn’t begun to join. */
export function readRecord({ joined }: Layout): Record | null {
  if (!existsSync(joined)) return null
  try {
    return JSON.parse(readFileSync(joined, 'utf8'))
  } catch (cause) {
    throw new Failure(
      'record_damaged',
      `${joined} can’t be read.`,
      'It lists what davit join did here. Restore it, or undo that by hand: see /docs/servers.',
      { cause },
    )
  }
}

export const recordText = (record: Record) => `${JSON.stringify(record, null, 2)}\n`

export function writeRecord({ joined }: Layout, record: Record) {
  mkdirSync(dirname(joined), { recursive: true, mode: 0o755 })
  writeFileAtomically(joined, recordText(record))
}

export function removeRecord({ joined }: Layout) {
  rmSync(joined, { force: true })
  removeEmpty(dirname(joined))
}

/** With files of others it stays. */
export function removeEmpty(folder: string) {
  if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder)
}

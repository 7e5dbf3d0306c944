import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../src/platform/root.ts'
import { aFolder } from '../support/folder.ts'

/** The migrations up to that one. */
export function until(tag: string) {
  const folder = join(aFolder(), 'drizzle')
  cpSync(join(root, 'drizzle'), folder, { recursive: true })
  const path = join(folder, 'meta/_journal.json')
  const journal = JSON.parse(readFileSync(path, 'utf8'))
  const last = journal.entries.findIndex((entry: { tag: string }) => entry.tag === tag)
  writeFileSync(path, JSON.stringify({ ...journal, entries: journal.entries.slice(0, last + 1) }))
  return folder
}

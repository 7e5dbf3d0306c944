import { onTestFinished } from 'bun:test'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../../src/platform/root.ts'

export function aDirectory() {
  const directory = mkdtempSync(join(tmpdir(), 'davit-db-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** The migrations up to that one. */
export function until(tag: string) {
  const folder = join(aDirectory(), 'drizzle')
  cpSync(join(root, 'drizzle'), folder, { recursive: true })
  const path = join(folder, 'meta/_journal.json')
  const journal = JSON.parse(readFileSync(path, 'utf8'))
  const last = journal.entries.findIndex((entry: { tag: string }) => entry.tag === tag)
  writeFileSync(path, JSON.stringify({ ...journal, entries: journal.entries.slice(0, last + 1) }))
  return folder
}

import { onTestFinished } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** An empty folder, which is removed with the test. */
export function aFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'davit-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

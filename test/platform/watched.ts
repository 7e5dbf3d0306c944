import { onTestFinished } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDavit } from '../support/davit.ts'

const preload = join(import.meta.dir, '../support/hang-on-signal.ts')
const command = [process.execPath, '--preload', preload, 'src/main.ts', 'serve']

/** Microseconds, as systemd says them, of which three quarters count: 1.5 s, and 3 s. */
export const soon = { WATCHDOG_USEC: '2000000' }
export const later = { WATCHDOG_USEC: '4000000' }

export function aDirectory() {
  const directory = mkdtempSync(join(tmpdir(), 'davit-watchdog-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** A Davit that is told to hang by SIGUSR2, and that a watchdog looks after. */
export async function aDavit(env: Record<string, string>, directory = aDirectory()) {
  const data = { DAVIT_DATA_DIR: join(directory, 'data') }
  const davit = await startDavit({ directory, command, env: { ...data, ...env } })
  onTestFinished(() => void davit.stop())
  return { ...davit, log: () => Bun.file(join(directory, 'davit.log')).text(), directory }
}

export const isWell = async ({ url }: { url: string }) =>
  (await fetch(`${url}/health`)).status === 200

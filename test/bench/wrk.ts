import { join } from 'node:path'
import { which } from '../support/machine/command.ts'
import { withMachineLock } from '../support/machine/lock.ts'
import { installPackages } from '../support/machine/packages.ts'

export type Load = { perSecond: number; p95: number }

/** Asks for one address over 16 connections; `p95` is in milliseconds. */
export async function load(url: string, { seconds = 5, headers = [] as string[] } = {}) {
  const options = ['-t2', '-c16', `-d${seconds}s`, '--timeout', '10s']
  const script = ['-s', join(import.meta.dir, 'wrk.lua')]
  const shown = headers.flatMap((header) => ['-H', header])
  const child = Bun.spawn(['wrk', ...options, ...script, ...shown, url], { stdout: 'pipe' })
  const text = await new Response(child.stdout).text()
  const { bad, ...measured } = JSON.parse(text.trim().split('\n').at(-1)!) as Load & { bad: number }
  if (bad > 0) throw new Error(`${bad} requests for ${url} were not answered well`)
  return measured
}

export async function ensureWrk({ say }: { say: (line: string) => void }) {
  if (which('wrk')) return
  await withMachineLock(async () => {
    if (which('wrk')) return
    say("Installing Debian's wrk, which asks for pages as fast as they come.")
    await installPackages(['wrk'])
  })
}

import { join } from 'node:path'
import { bareEnvironment } from './davit.ts'

/** Runs a subcommand of Davit to its end, with this on its standard input. */
export async function runDavit(
  args: string[],
  { env = {}, input = '' }: { env?: Record<string, string>; input?: string } = {},
) {
  const child = Bun.spawn([process.execPath, 'src/main.ts', ...args], {
    cwd: join(import.meta.dir, '../..'),
    env: { ...bareEnvironment(), DAVIT_PORT: '0', ...env },
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const limit = setTimeout(() => child.kill(), 30_000)
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  const status = await child.exited
  clearTimeout(limit)
  return { status, stdout, stderr }
}

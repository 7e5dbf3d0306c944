import { join } from 'node:path'
import { bareEnvironment } from './davit.ts'

const root = join(import.meta.dir, '../..')

/** Runs a subcommand of Davit to its end, with this on its standard input. */
export async function runDavit(
  args: string[],
  {
    env = {},
    input = '',
    cwd = root,
    within = 30_000,
  }: {
    env?: Record<string, string>
    input?: string
    cwd?: string
    /** Milliseconds after which it is ended. */
    within?: number
  } = {},
) {
  const settings = `--tsconfig-override=${join(root, 'tsconfig.json')}`
  const child = Bun.spawn([process.execPath, settings, join(root, 'src/main.ts'), ...args], {
    cwd,
    env: { ...bareEnvironment(), DAVIT_PORT: '0', ...env },
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const limit = setTimeout(() => child.kill(), within)
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  const status = await child.exited
  clearTimeout(limit)
  return { status, stdout, stderr }
}

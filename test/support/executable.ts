import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }

/** Builds the executable by the script of package.json, its flags and all, with another place for the result. */
export async function buildExecutable(outfile: string) {
  const [exec, bun, ...command] = manifest.scripts.build.replace('dist/davit', outfile).split(' ')
  if (exec !== 'exec' || bun !== 'bun') throw new Error('the script “build” doesn’t run Bun')
  const child = Bun.spawn([process.execPath, ...command], {
    cwd: join(import.meta.dir, '../..'),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [output, exitCode] = await Promise.all([child.stderr.text(), child.exited])
  if (exitCode !== 0) throw new Error(output)
}

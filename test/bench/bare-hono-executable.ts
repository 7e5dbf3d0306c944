import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The floor of several rows: a server that does nothing, compiled as Davit is, but without bytecode. */
export async function compileBareHono(directory: string) {
  const outfile = join(directory, 'bare-hono')
  if (existsSync(outfile)) return outfile
  const source = join(import.meta.dir, 'bare-hono.ts')
  const command = [process.execPath, 'build', '--compile', '--minify', '--outfile', outfile, source]
  const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'inherit' })
  if ((await child.exited) !== 0) throw new Error('The bare server does not compile')
  return outfile
}

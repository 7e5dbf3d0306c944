import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { debootstrap } from '../support/machine/packages.ts'
import type { TestedEngine } from './engines.ts'

/** What an engine needs to run, and to trust the registries. */
const include = ['docker.io', 'iptables', 'ca-certificates']

/** The file system of a Debian with its engine, made once and kept in that folder. */
export async function ensureRoot(
  { suite, version }: TestedEngine,
  { folder, say }: { folder: string; say: (line: string) => void },
) {
  const recipe = new Bun.CryptoHasher('sha256').update([suite, version, ...include].join('\n'))
  const name = `${suite}-${recipe.digest('hex').slice(0, 12)}`
  const root = join(folder, name)
  if (existsSync(root)) return root
  await mkdir(folder, { recursive: true })
  for (const other of await readdir(folder))
    if (other.startsWith(`${suite}-`)) await rm(join(folder, other), { recursive: true })
  say(`Making a root of Debian ${suite} in ${folder}, for its Docker Engine.`)
  const unfinished = `${root}.unfinished`
  await debootstrap({ suite, include, root: unfinished })
  await rename(unfinished, root)
  return root
}

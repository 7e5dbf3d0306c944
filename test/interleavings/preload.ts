import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

// What Davit loads when it is first needed is loaded before the first order: that takes time of the
// machine, of which an order knows nothing. Commands load theirs in processes of their own.
const source = join(import.meta.dir, '../../src')
for (const path of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
  if (!/\.tsx?$/.test(path) || path === 'cli.ts') continue
  const file = join(source, path)
  for (const [, late] of readFileSync(file, 'utf8').matchAll(/\bimport\('(\.[\w./-]+\.tsx?)'\)/g))
    await import(join(dirname(file), late!))
}

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { askEngine } from '../support/machine/engine.ts'
import { withLock } from '../support/machine/lock.ts'
import { chooseTests } from './engines.ts'
import { testAgainst } from './run.ts'
import { engineFolder } from './servers.ts'

// `npm run test:engines [-- VERSION … | ends] [FILE …] [--option …]`: what builds on the behaviour of
// the engine, against each that Davit supports or those that are named. The counts come last, as those
// of the test runner do.

const say = (line: string) => console.error(`\n${line}`)

const folder = engineFolder

const { Version: own } = (await (await askEngine('/version')).json()) as { Version: string }
const { chosen, tests } = chooseTests(Bun.argv.slice(2), own)

const abort = new AbortController()
const { signal } = abort
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(name, () => {
    abort.abort()
    setTimeout(() => process.exit(1), 15_000).unref() // its processes end with us, whatever they do
  })

await mkdir(folder, { recursive: true })
const lines = [`This machine’s own Docker is ${own}.`]
const sum = { passed: 0, failed: 0, isGood: true }
for (const engine of chosen) {
  // two runs of one engine would fill the disk and the processors for nothing
  const run = () => testAgainst(engine, { folder, tests, say, signal })
  const outcome = await withLock(join(folder, `${engine.suite}.lock`), run).catch(
    ({ message }: Error) => ({ passed: 0, failed: 0, isGood: false, line: message }),
  )
  lines.push(`Docker ${engine.version}: ${outcome.line}`)
  sum.passed += outcome.passed
  sum.failed += outcome.failed
  sum.isGood &&= outcome.isGood
  if (signal.aborted) break
}
say([...lines, '', ` ${sum.passed} pass`, ` ${sum.failed} fail`].join('\n'))
process.exit(sum.isGood && !signal.aborted ? 0 : 1)

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { ensureBusyboxImage, ensureEngine, ensureServiceImages } from '../support/machine.ts'
import { benchDetection } from './detection.ts'
import type { BuildCost } from './detection.ts'
import { exhaust } from './exhaustion/exhaustion.ts'
import type { Cost } from './exhaustion/exhaustion.ts'
import { summarize } from './ratio.ts'
import type { Row } from './ratio.ts'
import { parts } from './rows.ts'
import { buildTable, costTable, ratioTable } from './table.ts'

const repository = join(import.meta.dir, '../..')
const say = (line: string) => process.stderr.write(`${line}\n`)
const known = [...parts.flatMap(({ rows }) => Object.keys(rows)), 'exhaustion', 'detection']
const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !known.includes(name))
if (unknown.length > 0) {
  say(`There is no row ${unknown.join(', ')}. There are: ${known.join(', ')}`)
  process.exit(2)
}

await ensureEngine({ say })
await ensureBusyboxImage({ say })
await ensureServiceImages({ say })
const directory = mkdtempSync(join(tmpdir(), 'davit-bench-'))
const failures: string[] = []
try {
  const executable = await compileDavit()
  const rows: Row[] = []
  for (const part of parts) {
    const ofPart = await run(part.rows, (bench) => bench(directory, executable))
    if (ofPart.length > 0) process.stdout.write(`${part.title}\n\n${ratioTable(ofPart)}\n`)
    rows.push(...ofPart)
  }
  const costs = await run({ exhaustion: exhaust }, (measure) => measure([executable]))
  if (costs.length > 0) process.stdout.write(`Hostile input\n\n${costTable(costs)}\n`)
  // It takes long, and many packages.
  const long = asked.includes('detection') ? { detection: benchDetection } : {}
  const builds = await run(long, (bench) =>
    bench(directory, executable, (reason) => failures.push(reason)),
  )
  if (builds.length > 0)
    process.stdout.write(`Without a Dockerfile, against one by hand\n\n${buildTable(builds)}\n`)
  await keep(rows, costs, builds)
} finally {
  rmSync(directory, { recursive: true, force: true })
}
for (const failure of failures) say(failure)
process.exit(failures.length > 0 ? 1 : 0)

async function compileDavit() {
  const build = Bun.spawn(['npm', 'run', 'build'], {
    cwd: repository,
    stdout: 'ignore',
    stderr: 'inherit',
  })
  if ((await build.exited) !== 0) throw new Error('The executable does not compile')
  return join(repository, 'dist/davit')
}

/** What was asked for, else all; one that fails is told at the end and hides no other. */
async function run<Item, Result>(
  items: Record<string, Item>,
  start: (item: Item) => Promise<Result | Result[]>,
): Promise<Result[]> {
  const results: Result[] = []
  for (const [name, item] of Object.entries(items)) {
    if (asked.length > 0 && !asked.includes(name)) continue
    say(`${new Date().toISOString().slice(11, 19)} ${name}`)
    try {
      results.push(...([await start(item)].flat() as Result[]))
    } catch (error) {
      failures.push(`${name}: ${(error as Error).message}`)
    }
  }
  return results
}

async function keep(rows: Row[], costs: Cost[], builds: BuildCost[]) {
  mkdirSync(join(repository, 'dist'), { recursive: true })
  const report = {
    date: new Date().toISOString(),
    machine: `${cpus().length} × ${cpus()[0]!.model}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    rows: rows.map((row) => ({ ...row, ...summarize(row), values: [row.davit, row.floor] })),
    costs,
    builds,
  }
  await Bun.write(join(repository, 'dist/bench.json'), `${JSON.stringify(report, null, 2)}\n`)
}

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBusyboxImage, ensureEngine, ensureServiceImages } from '../support/machine.ts'
import { benchContainerLogs } from './container-logs.ts'
import { benchContainers } from './containers.ts'
import { benchCollection } from './collection.ts'
import { benchDeploy } from './deploy.ts'
import { benchMemory } from './memory.ts'
import { summarize } from './ratio.ts'
import type { Row } from './ratio.ts'
import { benchServices } from './services.ts'
import { benchStalledViewers } from './stalled-viewers.ts'
import { benchViewers } from './viewers.ts'
import { benchWebhooks } from './webhooks.ts'

const repository = join(import.meta.dir, '../..')
const say = (line: string) => process.stderr.write(`${line}\n`)

await ensureEngine({ say })
await ensureBusyboxImage({ say })
await ensureServiceImages({ say })
const directory = mkdtempSync(join(tmpdir(), 'davit-bench-'))
try {
  const executable = await compileDavit()
  const rows = [
    await benchDeploy(directory, executable),
    await benchMemory(directory, executable),
    await benchWebhooks(directory, executable),
    await benchCollection(directory, executable),
    await benchContainers(directory, executable),
    await benchContainerLogs(directory, [executable]),
    ...(await benchViewers(directory, [executable])),
    await benchStalledViewers(directory, [executable]),
    await benchServices(directory, executable),
  ]
  printTable(rows)
  mkdirSync(join(repository, 'dist'), { recursive: true })
  const report = rows.map((row) => ({ ...row, ...summarize(row), values: [row.davit, row.floor] }))
  await Bun.write(join(repository, 'dist/bench.json'), `${JSON.stringify(report, null, 2)}\n`)
} finally {
  rmSync(directory, { recursive: true, force: true })
}

async function compileDavit() {
  const build = Bun.spawn(['npm', 'run', 'build'], {
    cwd: repository,
    stdout: 'ignore',
    stderr: 'inherit',
  })
  if ((await build.exited) !== 0) throw new Error('The executable does not compile')
  return join(repository, 'dist/davit')
}

function printTable(rows: Row[]) {
  process.stdout.write('| what | against | Davit | floor | ratio (min – max) | aim |\n')
  process.stdout.write('|---|---|---|---|---|---|\n')
  for (const row of rows) {
    const { davit, floor, ratio } = summarize(row)
    const span = `${ratio.min.toFixed(2)} – ${ratio.max.toFixed(2)}`
    const cells = [
      row.what,
      row.against,
      `${davit.median.toFixed(0)} ${row.unit}`,
      `${floor.median.toFixed(0)} ${row.unit}`,
      `${ratio.median.toFixed(2)} (${span})`,
      row.aim,
    ]
    process.stdout.write(`| ${cells.join(' | ')} |\n`)
  }
}

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { prepareInstallation } from '../logs/installation.ts'
import { startDavit } from '../support/davit.ts'
import { processorTime } from './process.ts'
import { inPairs } from './ratio.ts'
import type { Row } from './ratio.ts'

const rounds = 3

const apps = 10

/** Milliseconds for which nothing is measured, and then for which it is: three samples of usage. */
const settleTime = 15_000
const span = 30_000

const printer = 'while :; do echo "$(date) INFO request served path=/api/items"; sleep 1; done'

/** Processor that a server takes while its apps write a line a second each and no one looks. */
export async function benchRest(directory: string, executable: string): Promise<Row> {
  const values = await inPairs(rounds, {
    davit: () => percentAtRest(directory, executable),
    floor: () => Promise.resolve(1),
  })
  return {
    ...{ what: `processor at rest, ${apps} apps that write a line a second`, unit: '%' },
    ...{ against: '1 % of a core', ...values, aim: '≤ 1' },
  }
}

async function percentAtRest(directory: string, executable: string) {
  const fresh = join(directory, Bun.randomUUIDv7())
  mkdirSync(fresh)
  const made = prepareInstallation(fresh, { apps })
  const davit = await startDavit({ directory: fresh, command: [executable], env: made.env })
  try {
    for (let app = 0; app < apps; app++) await made.run(printer, { app })
    await Bun.sleep(settleTime)
    const [before, from] = [processorTime(davit.pid), performance.now()]
    await Bun.sleep(span)
    const took = processorTime(davit.pid) - before
    return (100_000 * took) / (performance.now() - from)
  } finally {
    await made.removeContainers()
    await davit.stop()
  }
}

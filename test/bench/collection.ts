import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { prepareInstallation } from '../logs/installation.ts'
import { startDavit } from '../support/davit.ts'
import { processorTime, residentMemory } from './process.ts'
import { inPairs } from './ratio.ts'
import type { Row } from './ratio.ts'

const pairs = 7

/** Milliseconds that a page is asked for, after as many in which the collection comes up to speed. */
const span = 5000

/** Requests that are under way at a time. */
const concurrency = 4

/** 18,000 to 20,000 lines a second, of 74 characters. */
const printer = `yes '2026-11-20T23:59:59 INFO request served path=/api/items status=200 dur=12ms' | head -n 200 > /tmp/b; while :; do cat /tmp/b; usleep 9000; done`

/** Pages per second while the output of a fast printer is kept, against the same printer left alone. */
export async function benchCollection(directory: string, executable: string): Promise<Row> {
  const values = await inPairs(pairs, {
    davit: () => pagesPerSecond(directory, executable, { isCollected: true }),
    floor: () => pagesPerSecond(directory, executable, { isCollected: false }),
  })
  const what = 'a page during the collection of 20,000 lines/s'
  return {
    what,
    against: 'the printer not collected',
    unit: 'requests/s',
    ...values,
    aim: '≥ 0.50',
  }
}

async function pagesPerSecond(
  directory: string,
  executable: string,
  { isCollected }: { isCollected: boolean },
) {
  const fresh = join(directory, Bun.randomUUIDv7())
  mkdirSync(fresh)
  const made = prepareInstallation(fresh)
  const davit = await startDavit({ directory: fresh, command: [executable], env: made.env })
  const container = await made.run(printer, isCollected ? {} : { instance: 'another' })
  try {
    await Bun.sleep(span)
    const before = processorTime(davit.pid)
    const { headers, url } = {
      headers: { Cookie: made.cookie, Accept: 'text/html' },
      url: `${davit.url}/dashboard`,
    }
    const end = performance.now() + span
    let count = 0
    const ask = async () => {
      while (performance.now() < end) {
        const response = await fetch(url, { headers })
        if (response.status !== 200) throw new Error(`The page answers ${response.status}`)
        await response.text()
        count++
      }
    }
    await Promise.all(Array.from({ length: concurrency }, ask))
    const busy = ((processorTime(davit.pid) - before) / span) * 1000
    process.stderr.write(
      `${isCollected ? 'collected' : 'alone'}: ${Math.round((count / span) * 1000)} pages/s, ${busy.toFixed(2)} processors, ${residentMemory(davit.pid).toFixed(0)} MiB\n`,
    )
    return (count / span) * 1000
  } finally {
    await made.docker.removeContainer(container, { force: true })
    await davit.stop()
  }
}

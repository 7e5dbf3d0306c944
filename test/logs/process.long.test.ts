import { expect, onTestFinished, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLogDatabase } from '../../src/db/index.ts'
import { storedLines } from './stored-lines.ts'
import { startDavit } from '../support/davit.ts'
import { until } from '../support/until.ts'
import { prepareInstallation } from './installation.ts'

/** A Davit of its own with one environment, and what is kept of it. */
function anInstallation() {
  const directory = mkdtempSync(join(tmpdir(), 'davit-output-'))
  const made = prepareInstallation(directory)
  const logDb = openLogDatabase(join(directory, 'data/logs.db'))
  onTestFinished(async () => {
    await made.removeContainers()
    logDb.$client.close()
    rmSync(directory, { recursive: true, force: true })
  })
  const lines = () => storedLines(logDb, { sourceId: made.environmentId, logId: '' })
  return {
    ...made,
    lines,
    async start() {
      const davit = await startDavit({ directory, env: made.env })
      onTestFinished(async () => void (await davit.stop()))
      return davit
    },
    /** Resolves when the last line that is kept is looked for. */
    async untilLast(isLast: (text: string) => boolean) {
      const end = performance.now() + 30_000
      for (let last = ''; !isLast(last); last = lines().at(-1)?.text ?? '') {
        if (performance.now() > end) throw new Error(`It did not come; the last is: ${last}`)
        await Bun.sleep(50)
      }
    },
  }
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => String(from + at))

test('an app goes on while Davit is stopped, and what it wrote meanwhile is there afterwards', async () => {
  const here = anInstallation()
  const davit = await here.start()
  const id = await here.run(
    'echo ready; until [ -e /go ]; do sleep 0.1; done; seq 1 100000; sleep 1',
  )
  await here.untilLast((text) => text === 'ready')
  process.kill(davit.pid, 'SIGSTOP')
  try {
    const started = performance.now()
    await here.docker.runInContainer(id, { command: ['touch', '/go'] })
    await here.docker.waitForExit(id)
    expect(performance.now() - started).toBeLessThan(15_000)
    expect(here.lines().map(({ text }) => text)).not.toContain('1')
  } finally {
    process.kill(davit.pid, 'SIGCONT')
  }
  await here.untilLast((text) => text.includes('ended: exit code 0'))
  const written = here.lines().filter(({ stream }) => stream !== 'system')
  expect(written.map(({ text }) => text)).toEqual(['ready', ...numbers(1, 100_000)])
})

test('nothing of several containers is lost or doubled when Davit is killed again and again', async () => {
  const here = anInstallation()
  const script =
    'n=0; while [ $n -lt 60 ]; do seq $((n * 400 + 1)) $((n * 400 + 400)); n=$((n + 1)); sleep 0.2; done'
  let davit = await here.start()
  const ids = await Promise.all([1, 2, 3].map(() => here.run(script)))
  let over = false
  const end = Promise.all(ids.map((id) => here.docker.waitForExit(id))).then(() => (over = true))
  for (let kills = 0; !over || kills < 3; kills++) {
    await Bun.sleep(700 + Math.random() * 900) // whatever it is at then
    process.kill(davit.pid, 'SIGKILL')
    await davit.exited
    davit = await here.start()
  }
  await end
  const hasEnded = ({ text }: { text: string }) => text.includes('ended: exit code 0')
  await until(() => here.lines().filter(hasEnded).length === ids.length)
  const lines = here.lines()
  expect(lines.map(({ sequence }) => sequence)).toEqual(lines.map((_, at) => at + 1))
  const byContainer = Map.groupBy(lines, ({ container }) => container)
  expect(byContainer.size).toBe(ids.length)
  for (const own of byContainer.values()) {
    const written = own.filter(({ stream }) => stream !== 'system')
    expect(written.map(({ text }) => text)).toEqual(numbers(1, 24_000))
    expect(own.length - written.length).toBe(2)
  }
})

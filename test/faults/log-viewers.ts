import { failingBuild, startLogDavit } from './log-davit.ts'
import type { FaultReport } from './report.ts'
import { viewToTheEnd } from './log-viewer.ts'
import type { Seen } from './log-viewer.ts'

type Options = {
  /** Builds, each in a log of its own. */
  rounds: number
  lines: number
  viewers: number
  /** How often each of them goes away and comes back. */
  leaves: number
  command?: string[]
}

/**
 * A build prints numbered lines while viewers go away at random and come back. In the middle of the
 * first build, and of every other one, Davit is killed: the next try goes on in the same log.
 */
export async function viewersComeBack(options: Options): Promise<FaultReport> {
  const { rounds, viewers } = options
  const davit = await startLogDavit(options.command ? { command: options.command } : {})
  const sum = { lines: 0, bad: 0, comebacks: 0, kills: 0 }
  try {
    for (let round = 0; round < rounds; round++) {
      const isKilled = round % 2 === 0
      const seen = await watchBuild(davit, { ...options, isKilled })
      sum.lines += seen.lines
      sum.bad += seen.bad
      sum.comebacks += seen.comebacks
      sum.kills += isKilled ? 1 : 0
    }
  } finally {
    await davit.remove()
  }
  return {
    what: `a build’s log, ${viewers} viewers who leave and come back, Davit killed between`,
    unit: 'lines lost, doubled or not stored',
    rounds: sum.lines,
    bad: sum.bad,
    figures: `${sum.comebacks} comebacks, ${sum.kills} kills`,
  }
}

async function watchBuild(
  davit: Awaited<ReturnType<typeof startLogDavit>>,
  { lines, viewers, leaves, isKilled }: Options & { isKilled: boolean },
) {
  const print = `i=0; while [ $i -lt ${lines} ]; do i=$((i+1)); echo "line $i"; done`
  // so that viewers are there, and the kill falls, before the end
  const path = await davit.deploy(failingBuild(`sleep 1; ${print}; sleep 1`))
  const seen: Seen = new Map()
  const options = { url: `${davit.url}${path}/logs?format=json`, seen }
  const { authorization } = davit
  const stay = () => Math.ceil(((Math.random() * 2 * lines) / leaves) * (isKilled ? 2 : 1))
  const viewing = Array.from({ length: viewers }, () =>
    viewToTheEnd({ ...options, authorization, stay }),
  )
  if (isKilled) {
    while (seen.size < lines / 2) await Bun.sleep(5)
    await davit.kill()
  }
  const viewed = await Promise.all(viewing)
  const stored = await davit.stored(path)
  const notStored = [...seen].filter(([id, data]) => stored[id - 1]?.text !== JSON.parse(data).text)
  const printed = stored.filter(({ text }) => /^line \d+$/.test(text)).slice(-lines)
  const notPrinted = printed.filter(({ text }, at) => text !== `line ${at + 1}`)
  const wrong = viewed.map((viewer) => viewer.wrong + Math.abs(stored.length - viewer.last))
  return {
    lines: stored.length * viewers,
    bad:
      wrong.reduce((sum, count) => sum + count, 0) +
      notStored.length +
      notPrinted.length +
      (lines - printed.length),
    comebacks: viewed.reduce((sum, { comebacks }) => sum + comebacks, 0),
  }
}

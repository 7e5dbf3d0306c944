import { residentMemory } from '../bench/process.ts'
import { failingBuild, startLogDavit } from './log-davit.ts'
import { LogReader } from './log-reader.ts'
import type { FaultReport } from './report.ts'

/** Characters at which a line is cut. */
const pieceLength = 16_384

/** MiB that the odd lines may take over what a build takes that prints many plain ones. */
const maxGrowth = 50

type Options = {
  /** Of a line without an end, in millions of characters. */
  megabytes: number
  emptyLines: number
  command?: string[]
}

/** What no well-behaved program prints: each kind is a round. */
export async function oddLines({ megabytes, emptyLines, command }: Options): Promise<FaultReport> {
  const davit = await startLogDavit(command ? { command } : {})
  const endless = megabytes * 1_000_000
  let peak = 0
  try {
    const usual = await print(`i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo "$i plain"; done`)
    const before = residentMemory(davit.pid)
    peak = before
    const kinds = kindsOf({ endless, emptyLines })
    const texts = await print(kinds.map(({ script }) => script).join('; '))
    const wrong = kinds.filter(({ isRight }) => usual.length <= 20_000 || !isRight(texts))
    const growth = peak - before
    const figures = `at most ${growth.toFixed(0)} MiB more than plain lines take (${before.toFixed(0)})`
    return {
      what: `lines of ${megabytes} MB, ${emptyLines} without text, broken UTF-8, NUL, colours and progress bars`,
      unit: 'kinds of line kept wrong, or in too much memory',
      rounds: kinds.length,
      bad: wrong.length + (growth > maxGrowth ? 1 : 0),
      figures: [figures, ...wrong.map(({ script }) => script)].join('; wrong: '),
    }
  } finally {
    await davit.remove()
  }

  /** What the log has of the build, which one reads along. */
  async function print(script: string) {
    const path = await davit.deploy(failingBuild(script))
    const reader = new LogReader(`${davit.url}${path}/logs`, davit.authorization)
    const watch = setInterval(() => (peak = Math.max(peak, residentMemory(davit.pid))), 20)
    await reader.read()
    clearInterval(watch)
    const stored = await davit.stored(path)
    const texts = stored.map(({ text }) => text)
    const fit = texts.every((text) => text.length <= pieceLength && text.isWellFormed())
    return fit && reader.wrong === 0 && reader.last === stored.length ? texts : []
  }
}

/** Scripts that print odd lines, and what then has to be in the log. */
const kindsOf = ({ endless, emptyLines }: { endless: number; emptyLines: number }) => [
  {
    script: `printf 'a\\0b\\nc\\377d\\n\\355\\240\\200e\\n'`,
    isRight: (texts: string[]) =>
      [/^a\uFFFDb$/, /^c\uFFFDd$/, /^\uFFFD+e$/].every((kept) =>
        texts.some((text) => kept.test(text)),
      ),
  },
  {
    script: `printf '\\033[31mred\\033[0m\\n'`,
    isRight: (texts: string[]) => texts.includes('\x1b[31mred\x1b[0m'),
  },
  {
    script: `seq 1 100000 | tr '\\n' '\\r'; echo`,
    isRight: (texts: string[]) => texts.filter((text) => /^\d+$/.test(text)).length <= 1,
  },
  {
    script: `yes '' | head -n ${emptyLines}; echo after`,
    isRight: (texts: string[]) => texts.includes('after'),
  },
  {
    script: `head -c 1000000 /dev/zero | tr '\\0' y; echo`,
    isRight: (texts: string[]) => countOf(texts, /^y+/) === 1_000_000,
  },
  {
    script: `head -c ${endless} /dev/zero | tr '\\0' x`,
    isRight: (texts: string[]) => countOf(texts, /^x+/) === endless,
  },
]

/** Characters; what the builder says next stands in the same line as output without an end. */
const countOf = (texts: string[], which: RegExp) =>
  texts.reduce((sum, text) => sum + (which.exec(text)?.[0].length ?? 0), 0)

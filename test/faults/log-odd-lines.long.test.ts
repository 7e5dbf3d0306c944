import { expect, onTestFinished, test } from 'bun:test'
import { residentMemory } from '../bench/process.ts'
import { failingBuild, startLogDavit } from './log-davit.ts'
import { LogReader } from './log-reader.ts'

/** Characters at which a line is cut. */
const pieceLength = 16_384

/** MiB that the odd lines may take over what a build takes that prints many plain ones. */
const maxGrowth = 50

/** Characters of a line without an end, and lines without a character. */
const endless = 5_000_000
const emptyLines = 100_000

test('endless lines, empty ones, broken text and progress bars are kept in bounded memory', async () => {
  const davit = await startLogDavit()
  onTestFinished(() => davit.remove())
  let peak = 0
  const plain = await print(`i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo "$i plain"; done`)
  expect(plain.length).toBeGreaterThan(20_000)
  const before = (peak = residentMemory(davit.pid))
  const texts = await print(kinds.map(({ script }) => script).join('; '))
  for (const { script, isRight } of kinds) expect(isRight(texts), script).toBe(true)
  expect(peak - before).toBeLessThan(maxGrowth)

  /** What the log has of the build, which one reads along. */
  async function print(script: string) {
    const path = await davit.deploy(failingBuild(script))
    const reader = new LogReader(`${davit.url}${path}/logs`, davit.authorization)
    const watch = setInterval(() => (peak = Math.max(peak, residentMemory(davit.pid))), 20)
    await reader.read()
    clearInterval(watch)
    const texts = davit.stored(path).map(({ text }) => text)
    expect([reader.wrong, reader.last]).toEqual([0, texts.length])
    expect(texts.filter((text) => text.length > pieceLength || !text.isWellFormed())).toEqual([])
    return texts
  }
})

/** Scripts that print odd lines, and what then has to be in the log. */
const kinds = [
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

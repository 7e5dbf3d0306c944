import type { LogLine } from '../web/log-line.tsx'

/** Where a line came from. */
export type Origin = {
  /** Empty for a service. */
  deploymentId: string
  /** The container's name. */
  container: string
}

/** A line as it is kept: numbered over all containers of its environment or service. */
export type OutputLine = LogLine & Origin

export type NewLine = Omit<LogLine, 'sequence'>

/*
 * The text of a block: a row for each line, which begins with the letter of its stream and the time
 * to the base 36, and a row `@deployment container` before lines of another origin. It can be put
 * together from parts without being read.
 */
const letters = { stdout: 'o', stderr: 'e', system: 's' } as const
const streams = { o: 'stdout', e: 'stderr', s: 'system' } as const

export const originRow = ({ deploymentId, container }: Origin) => `@${deploymentId} ${container}\n`

export const lineRows = (lines: NewLine[]) =>
  lines.map(({ stream, time, text }) => `${letters[stream]}${time.toString(36)} ${text}\n`).join('')

export const pack = (text: string) => Bun.zstdCompressSync(Buffer.from(text))

export const unpack = (data: Buffer) =>
  data.length === 0 ? '' : Bun.zstdDecompressSync(data).toString()

/** The lines of a block; `first` is the sequence of its first one. */
export function readBlock({ first, data }: { first: number; data: Buffer }): OutputLine[] {
  const lines: OutputLine[] = []
  let origin: Origin = { deploymentId: '', container: '' }
  for (const row of unpack(data).split('\n')) {
    const letter = row[0]
    const blank = row.indexOf(' ')
    if (letter === '@')
      origin = { deploymentId: row.slice(1, blank), container: row.slice(blank + 1) }
    else if (letter)
      lines.push({
        sequence: first + lines.length,
        time: parseInt(row.slice(1, blank), 36),
        stream: streams[letter as keyof typeof streams],
        text: row.slice(blank + 1),
        ...origin,
      })
  }
  return lines
}

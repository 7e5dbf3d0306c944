import { cutLine } from '../docker/index.ts'
import type { Line, NewLine, Origin } from './log-line.tsx'

/*
 * The text of a block has a row for each line, which begins with the letter of its stream and the time in
 * base 36. A row `@deployment container process replica server` precedes lines of another origin. `@1` refers to the second of those rows. A line break within a line is a
 * NUL, which no stored text contains.
 */
const letters = { stdout: 'o', stderr: 'e', system: 's' } as const
const streams = { o: 'stdout', e: 'stderr', s: 'system' } as const

const originRow = ({ deploymentId, container, process, replica, server }: Origin) =>
  `@${[deploymentId, container, process, replica, server].join(' ').trimEnd()}\n`

/** For lines that no container wrote. */
export const noOrigin: Origin = { deploymentId: '', container: '', process: '', replica: null }

function readOrigin(row: string): Origin {
  const [deploymentId = '', container = '', process = '', replica, server] = row.slice(1).split(' ')
  return { deploymentId, container, process, replica: Number(replica) || null, server }
}

/** In characters: a row's letter, time and line break. */
export const rowOverhead = 11

const isReference = /^@\d+$/

/** Tracks the origins that a block names, and the origin of its last line. */
export class Origins {
  readonly #rows: string[] = []
  #current = originRow(noOrigin)
  #origin: Origin | undefined

  /** Continues an existing block. */
  constructor(text = '') {
    for (const row of text.match(/^@.*$/gm) ?? []) {
      if (isReference.test(row)) this.#current = this.#rows[Number(row.slice(1))]!
      else this.#rows.push((this.#current = `${row}\n`))
    }
  }

  /** Returns the row that must precede a line of that origin. */
  rowBefore(origin: Origin | undefined) {
    if (origin === this.#origin) return ''
    this.#origin = origin
    const row = originRow(origin ?? noOrigin)
    if (row === this.#current) return ''
    this.#current = row
    const known = this.#rows.indexOf(row)
    if (known >= 0) return `@${known}\n`
    this.#rows.push(row)
    return row
  }
}

export const lineRows = (lines: NewLine[], origins = new Origins()) =>
  lines
    .map(
      ({ stream, time, text, origin }) =>
        `${origins.rowBefore(origin)}${letters[stream]}${time.toString(36)} ${packed(text)}\n`,
    )
    .join('')

/** Splits long texts into lines that can be stored, and removes NUL, which blocks use for line breaks. */
export const storable = (text: string) =>
  cutLine(text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text)

/** Encodes a text for a block. */
export const packed = (text: string) =>
  hasBreak.test(text) ? text.replaceAll('\0', '\uFFFD').replaceAll('\n', '\0') : text

const hasBreak = /[\n\0]/

const opened = (text: string) => (text.includes('\0') ? text.replaceAll('\0', '\n') : text)

export const pack = (text: string) => Bun.zstdCompressSync(text)

export const unpack = (data: Buffer) =>
  data.length === 0 ? '' : Bun.zstdDecompressSync(data).toString()

/** Reads the lines of a block; `first` is the sequence number of its first line. */
export function readBlock({ first, data }: { first: number; data: Buffer }): Line[] {
  const lines: Line[] = []
  const origins: Origin[] = []
  let origin = noOrigin
  for (const row of unpack(data).split('\n')) {
    const letter = row[0]
    const blank = row.indexOf(' ')
    if (isReference.test(row)) origin = origins[Number(row.slice(1))]!
    else if (letter === '@') origins.push((origin = readOrigin(row)))
    else if (letter)
      lines.push({
        sequence: first + lines.length,
        time: parseInt(row.slice(1, blank), 36),
        stream: streams[letter as keyof typeof streams],
        text: opened(row.slice(blank + 1)),
        ...origin,
      })
  }
  return lines
}

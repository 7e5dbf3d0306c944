import { isCut } from '../docker/index.ts'
import { readingsOf, spellingsOf } from './readings.ts'
import type { Reading, Spelling } from './readings.ts'
import type { Range, Rewritten } from './rewriting.ts'

/** True when a text continues before its start, or after its end: a secret may extend across a cut. */
export type Cuts = {
  before: boolean
  after: boolean
  /** The end of the previous piece, since an escape may extend across a cut too. */
  tail?: string | undefined
}

/** The end of a piece, for the piece that continues it: the length of nested escapes. */
export const tailOf = (piece: string) => piece.slice(-64)

type MaskContext = {
  /** A secret may extend across a cut. */
  cuts?: Cuts
  /** In milliseconds since 1970. Values that ceased to be secret before this aren't masked. */
  since?: number | undefined
}

/** Masks secrets in a text, including parts of them at its cuts. */
export type Mask = (text: string, place?: MaskContext) => string

export const noMask: Mask = (text) => text

/** Shorter texts are too common to be masked, and too short to be secrets. */
export const minLength = 4

/** Characters of a prefix by which longer forms are found. */
const usualStart = 8

/**
 * In characters of secrets, above which every text is masked completely. It is more than can be stored, and
 * searching for them would take unlimited memory.
 */
const mostCharacters = 2 ** 20

/** Comparisons per character of a text and in total. Once they are used up, the rest is masked. */
const maxComparisons = { each: 24, least: 2000, most: 4_000_000 }

type Form = Spelling & { until: number }

/** Returns a function that replaces each secret by `***`, however it is escaped or encoded. */
export function masking(secrets: string[]): Mask {
  const set = new SecretSet()
  for (const secret of secrets) set.add(secret)
  return set.mask
}

/** Masks secrets at a bounded cost: if too many start alike, more is masked than is secret. */
export class SecretSet {
  /** Approximate, in bytes of memory. */
  bytes = 0
  #characters = 0
  readonly #forms = new Map<string, Form>()
  /** By a hash of the first four characters: short forms, and long ones. */
  readonly #short = new Map<number, Form[]>()
  readonly #long = new Map<number, Form[]>()
  /** Long forms by a hash of the first eight characters. */
  readonly #usual = new Map<number, Form[]>()
  /** A flag for each hash of four characters that occurs. */
  readonly #known = new Uint8Array(0x10000)
  /** True if any of them can be written with quotes or blanks in it. */
  #hasQuotes = false

  /** `until` is when it ceased to be secret (milliseconds since 1970), if it did. */
  add(secret: string, until = Infinity) {
    for (const _ of this.adding(secret, until));
  }

  /** Like `add` in small steps, for long secrets. */
  *adding(secret: string, until = Infinity): Generator<void> {
    if (!this.#forms.has(secret)) this.#characters += secret.length
    if (this.#characters > mostCharacters) return
    this.#hasQuotes ||= /['"`\\+\s$%&]/.test(secret)
    for (const spelling of spellingsOf(secret)) {
      if (spelling.text.length >= minLength) this.#addForm({ ...spelling, until })
      yield
    }
  }

  /** Masks every text completely from now on. */
  hideAll() {
    this.#characters = Infinity
  }

  get mask(): Mask {
    if (this.#characters > mostCharacters) return () => '***'
    return this.#forms.size === 0 ? noMask : (text, place) => this.#hide(text, place)
  }

  #addForm(form: Form) {
    const { text, until, isBase64 } = form
    const known = this.#forms.get(text)
    if (known) {
      known.until = Math.max(known.until, until)
      known.isBase64 ||= isBase64
      return
    }
    this.#forms.set(text, form)
    this.bytes += perForm + text.length
    const hash = hashAt(text, 0)
    this.#known[hash] = 1
    if (text.length < usualStart) return put(this.#short, hash, form)
    put(this.#long, hash, form)
    put(this.#usual, longHashAt(text, 0), form)
  }

  #hide(text: string, { cuts, since = -Infinity }: MaskContext = {}) {
    const isCut = cuts?.after === true
    const tail = (cuts?.before && cuts.tail) || ''
    const source = tail + text
    const ranges: Range[] = []
    for (const reading of readingsOf(source, { isCut, hasQuotes: this.#hasQuotes })) {
      const { text, sourceOf } = reading
      const search = { ...reading, since, isCut, steps: stepsFor(text) }
      const found = this.#find(search)
      if (cuts?.before) {
        const from = firstBehind(tail.length, reading)
        found.push([from, from + this.#headOf(search, from)])
      }
      for (const range of found) {
        const [from, end] = sourceOf(range)
        const to = isCut && range[1] === text.length ? source.length : end
        if (range[1] > range[0] && to > tail.length)
          ranges.push([Math.max(0, from - tail.length), to - tail.length])
      }
    }
    return ranges.length === 0 ? text : hide(text, ranges)
  }

  #find(search: Search) {
    const { text } = search
    const ranges: Range[] = []
    let hash = 0
    for (let end = 0; end < text.length && search.steps > 0; end++) {
      hash = rolled(hash, text.charCodeAt(end))
      if (this.#known[hash] === 0 || end < minLength - 1) continue
      const at = end - minLength + 1
      const length = this.#lengthAt(search, { at, hash })
      if (length > 0) ranges.push([at, at + length])
      if (search.steps <= 0) ranges.push([at, text.length])
    }
    return ranges
  }

  /** Length of the longest form that begins at the position. */
  #lengthAt(search: Search, { at, hash }: { at: number; hash: number }) {
    const { text, isCut, whole } = search
    const short = longest(search, at, this.#short.get(hash))
    if (at + usualStart <= whole)
      return Math.max(short, longest(search, at, this.#usual.get(longHashAt(text, at))))
    return isCut ? Math.max(short, longest(search, at, this.#long.get(hash))) : short
  }

  /** Length of the text at the position that ends a form, or all of it if it is a form's middle. */
  #headOf(search: Search, from: number) {
    const { text, since, isCut, whole } = search
    const start = text.slice(from, from + minLength)
    const rest = text.length - from
    if (start.length < minLength) return 0
    let found = 0
    for (const { text: form, until } of this.#forms.values()) {
      if (until < since) continue
      if ((search.steps -= visit + form.length / 16) <= 0) return rest
      for (let at = form.indexOf(start, 1); at >= 0; at = form.indexOf(start, at + 1)) {
        const end = Math.min(form.length - at, rest)
        const same = sameFrom(form, at, text, from, end)
        if ((search.steps -= visit + same) <= 0) return rest
        if (same === end) found = Math.max(found, end)
        else if (isCut && same >= minLength && from + same >= whole) found = rest
      }
    }
    return found
  }
}

type Search = Pick<Reading, 'text' | 'whole'> & {
  since: number
  /** True when the text continues after its end. */
  isCut: boolean
  /** The remaining budget for comparisons. */
  steps: number
}

const stepsFor = ({ length }: string) =>
  Math.min(maxComparisons.least + maxComparisons.each * length, maxComparisons.most)

/** The cost of checking a form, in compared characters. */
const visit = 4

/** Length of the longest form at the position; one that a cut breaks off counts too. */
function longest(search: Search, at: number, forms: Form[] = []) {
  const { text, since, isCut, whole } = search
  let found = 0
  for (const { text: form, until, isBase64 } of forms) {
    const end = Math.min(form.length, text.length - at)
    if (until < since || end <= found || (end < form.length && !isCut)) continue
    const same = sameFrom(form, 0, text, at, end)
    if ((search.steps -= visit + same) <= 0) return found
    if (isCut && same >= minLength && at + same >= whole) found = text.length - at
    else if (same === end) found = end + (isBase64 ? sharedBehind(text, at + end) : 0)
  }
  return found
}

/** Counts base64 characters that encode the last bits of the text before them, and those for a line break. */
const sharedBehind = (text: string, at: number) =>
  /^[\w+/-]*/.exec(text.slice(at, at + 3))![0].length

/** The index of a reading's first character that comes from after the position in its source. */
function firstBehind(place: number, { text, sourceOf }: Rewritten) {
  let at = 0
  while (at < text.length && sourceOf([at, at + 1])[1] <= place) at++
  return at
}

/** Counts equal characters, up to `end`. */
function sameFrom(a: string, from: number, b: string, at: number, end: number) {
  let same = 0
  while (same < end && a.charCodeAt(from + same) === b.charCodeAt(at + same)) same++
  return same
}

/** In bytes: the overhead of a form. */
const perForm = 150

/** A 16-bit hash of the last four characters: with each new one the oldest drops out. */
const rolled = (hash: number, code: number) => ((hash << 4) ^ code) & 0xffff

function hashAt(text: string, at: number) {
  let hash = 0
  for (let end = at; end < at + minLength; end++) hash = rolled(hash, text.charCodeAt(end))
  return hash
}

/** A 32-bit hash of eight characters. */
const longHashAt = (text: string, at: number) =>
  Math.imul(hashAt(text, at), 0x9e3779b1) ^ hashAt(text, at + minLength)

function put(map: Map<number, Form[]>, hash: number, form: Form) {
  const alike = map.get(hash)
  if (alike) alike.push(form)
  else map.set(hash, [form])
}

/** Replaces the ranges by `***`; overlapping ranges become one. */
function hide(text: string, ranges: Range[]) {
  let shown = ''
  let end = 0
  let hiddenTo = 0
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (to === from) continue
    if (from >= hiddenTo) {
      shown += `${text.slice(end, from)}***`
      hiddenTo = to
    }
    hiddenTo = Math.max(hiddenTo, to)
    end = hiddenTo
  }
  return shown + text.slice(end)
}

/** Masks lines, of which long ones arrive in separate pieces. */
export class PieceMask<Stream extends string> {
  /** The ends of unfinished lines, by stream, and by stream and step. */
  readonly #unfinished = new Map<string, string>()

  apply(
    mask: Mask,
    { stream, text, since }: { stream: Stream; text: string; since?: number | undefined },
  ) {
    const step = `${stream} ${stepOf.exec(text)?.[0] ?? ''}`
    const goesOn = this.#unfinished.get(step)
    const tail = goesOn ?? this.#unfinished.get(stream)
    const cuts = { before: tail !== undefined, after: isCut(text), tail }
    for (const key of [stream, step])
      if (cuts.after) this.#unfinished.set(key, tailOf(text))
      else this.#unfinished.delete(key)
    if (goesOn === undefined) return mask(text, { cuts, since })
    const own = step.length - stream.length - 1 // each piece of a build's line begins with its step
    return text.slice(0, own) + mask(text.slice(own), { cuts, since })
  }
}

/** The prefix of a build's lines, whose steps can alternate. */
const stepOf = /^#\d{1,6} /

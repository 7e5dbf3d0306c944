import { isCut } from '../docker/index.ts'

/** Whether a text goes on before its beginning, or after its end: a secret may lie across a cut. */
export type Cuts = { before: boolean; after: boolean }

/** Where a text stands. */
type Place = {
  /** Where it was cut: a secret may lie across. */
  cuts?: Cuts
  /** Milliseconds since 1970: what ceased to be secret before then isn't hidden. All is, where it is left out. */
  since?: number | undefined
}

/** Hides what is secret in a text, also what of it lies at the places where the text was cut. */
export type Mask = (text: string, place?: Place) => string

/** Of what has no secrets. */
export const noMask: Mask = (text) => text

/** Shorter texts are too common to be masked, and too short to be secrets. */
export const minLength = 4

/** Characters by which longer forms are found. */
const usualStart = 8

/**
 * Characters of secrets from which on every text is hidden whole: more than can be stored, and looking
 * for them would take memory without end.
 */
const mostCharacters = 2 ** 20

/** What may be compared for each character of a text, and in all, before the rest of it is hidden. */
const patience = { each: 24, least: 2000, most: 4_000_000 }

type Form = { text: string; until: number }

/** Returns a function that replaces each secret, and its base64, URL and JSON forms, by `***`. */
export function masking(secrets: string[]): Mask {
  const set = new SecretSet()
  for (const secret of secrets) set.add(secret)
  return set.mask
}

/**
 * Texts that are hidden where they occur. What a text costs is bounded, whatever the secrets are: where
 * too many of them begin alike, more is hidden than is secret.
 */
export class SecretSet {
  /** About how many bytes it takes. */
  bytes = 0
  #characters = 0
  readonly #forms = new Map<string, Form>()
  /** By a hash of their first four characters: the short forms, and the others. */
  readonly #short = new Map<number, Form[]>()
  readonly #long = new Map<number, Form[]>()
  /** The others by a hash of their first eight. */
  readonly #usual = new Map<number, Form[]>()
  /** Which of the hashes of four characters there are. */
  readonly #known = new Uint8Array(0x10000)

  /** `until` is when it ceased to be secret (milliseconds since 1970), if it did. */
  add(secret: string, until = Infinity) {
    for (const _ of this.adding(secret, until));
  }

  /** The same in small steps, for what can be long. */
  *adding(secret: string, until = Infinity): Generator<void> {
    if (!this.#forms.has(secret)) this.#characters += secret.length
    if (this.#characters > mostCharacters) return
    for (const text of formsOf(secret)) {
      if (text.length >= minLength) this.#addForm(text, until)
      yield
    }
  }

  /** From now on every text is hidden whole. */
  hideAll() {
    this.#characters = Infinity
  }

  get mask(): Mask {
    if (this.#characters > mostCharacters) return () => '***'
    return this.#forms.size === 0 ? noMask : (text, place) => this.#hide(text, place)
  }

  #addForm(text: string, until: number) {
    const known = this.#forms.get(text)
    if (known) {
      known.until = Math.max(known.until, until)
      return
    }
    const form = { text, until }
    this.#forms.set(text, form)
    this.bytes += perForm + text.length
    const hash = hashAt(text, 0)
    this.#known[hash] = 1
    if (text.length < usualStart) return put(this.#short, hash, form)
    put(this.#long, hash, form)
    put(this.#usual, longHashAt(text, 0), form)
  }

  #hide(text: string, { cuts, since = -Infinity }: Place = {}) {
    const search = { text, since, isCut: cuts?.after === true, steps: stepsFor(text) }
    const ranges: Range[] = []
    if (cuts?.before) ranges.push([0, this.#headOf(search)])
    let hash = 0
    for (let end = 0; end < text.length && search.steps > 0; end++) {
      hash = rolled(hash, text.charCodeAt(end))
      if (this.#known[hash] === 0 || end < minLength - 1) continue
      const at = end - minLength + 1
      const length = this.#lengthAt(search, { at, hash })
      if (length > 0) ranges.push([at, at + length])
      if (search.steps <= 0) ranges.push([at, text.length])
    }
    return ranges.length === 0 ? text : hide(text, ranges)
  }

  /** Characters of the longest form that begins there. */
  #lengthAt(search: Search, { at, hash }: { at: number; hash: number }) {
    const { text, isCut } = search
    const short = longest(search, at, this.#short.get(hash))
    if (at + usualStart <= text.length)
      return Math.max(short, longest(search, at, this.#usual.get(longHashAt(text, at))))
    return isCut ? Math.max(short, longest(search, at, this.#long.get(hash))) : short
  }

  /** Characters at the beginning of the text that are the end of a form, or all of it if it is of one's middle. */
  #headOf(search: Search) {
    const { text, since } = search
    const start = text.slice(0, minLength)
    if (start.length < minLength) return 0
    let found = 0
    for (const { text: form, until } of this.#forms.values()) {
      if (until < since) continue
      if ((search.steps -= visit + form.length / 16) <= 0) return text.length
      for (let at = form.indexOf(start, 1); at >= 0; at = form.indexOf(start, at + 1)) {
        const end = Math.min(form.length - at, text.length)
        const same = sameFrom(form, at, text, 0, end)
        if ((search.steps -= visit + same) <= 0) return text.length
        if (same === end) found = Math.max(found, end)
      }
    }
    return found
  }
}

type Search = {
  text: string
  since: number
  /** Whether it goes on after its end. */
  isCut: boolean
  /** What the comparisons may still cost. */
  steps: number
}

const stepsFor = ({ length }: string) =>
  Math.min(patience.least + patience.each * length, patience.most)

/** What it costs to look at a form, in characters that are compared. */
const visit = 4

/** Characters of the longest of the forms that stands there; one that is broken off by a cut counts too. */
function longest(search: Search, at: number, forms: Form[] = []) {
  const { text, since, isCut } = search
  let found = 0
  for (const { text: form, until } of forms) {
    const end = Math.min(form.length, text.length - at)
    if (until < since || end <= found || (end < form.length && !isCut)) continue
    const same = sameFrom(form, 0, text, at, end)
    if ((search.steps -= visit + same) <= 0) return found
    if (same === end) found = end
  }
  return found
}

/** How many characters, up to so many, are the same from there on. */
function sameFrom(a: string, from: number, b: string, at: number, end: number) {
  let same = 0
  while (same < end && a.charCodeAt(from + same) === b.charCodeAt(at + same)) same++
  return same
}

/** Bytes that a form takes beside its text. */
const perForm = 150

/** The hash, in 16 bits, of the last four characters: with each, the one of five characters before falls out. */
const rolled = (hash: number, code: number) => ((hash << 4) ^ code) & 0xffff

function hashAt(text: string, at: number) {
  let hash = 0
  for (let end = at; end < at + minLength; end++) hash = rolled(hash, text.charCodeAt(end))
  return hash
}

/** Of the eight characters there, in 32 bits. */
const longHashAt = (text: string, at: number) =>
  Math.imul(hashAt(text, at), 0x9e3779b1) ^ hashAt(text, at + minLength)

function put(map: Map<number, Form[]>, hash: number, form: Form) {
  const alike = map.get(hash)
  if (alike) alike.push(form)
  else map.set(hash, [form])
}

/** From an index to the one behind it. */
type Range = [from: number, to: number]

/** The text with `***` in the place of the ranges, and of several that overlap. */
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

/** A secret as it is, and as it shows up in logs: line by line, encoded, escaped. */
function* formsOf(secret: string): Generator<string> {
  yield secret
  for (const line of secret.split('\n')) yield line.trim()
  yield* base64Of(secret)
  yield* base64Of(`${secret}\n`) // as `echo` writes it
  yield encodeURIComponent(secret.toWellFormed())
  yield new URLSearchParams({ '': secret }).toString().slice(1)
  yield JSON.stringify(secret).slice(1, -1)
}

/** Without the padding, which not everyone writes; and in lines of 76, as `base64` prints it. */
function base64Of(text: string) {
  const encoded = Buffer.from(text).toString('base64').replace(/=+$/, '')
  const urlSafe = Buffer.from(text).toString('base64url')
  return [encoded, urlSafe, ...(encoded.match(/.{1,76}/g) ?? [])]
}

/** Masks lines of which the long ones come in pieces, each on its own. */
export class PieceMask<Stream extends string> {
  /** The streams whose last line goes on in their next one. */
  readonly #unfinished = new Set<Stream>()

  apply(
    mask: Mask,
    { stream, text, since }: { stream: Stream; text: string; since?: number | undefined },
  ) {
    const cuts = { before: this.#unfinished.has(stream), after: isCut(text) }
    if (cuts.after) this.#unfinished.add(stream)
    else this.#unfinished.delete(stream)
    return mask(text, { cuts, since })
  }
}

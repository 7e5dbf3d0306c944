import type { AccessLine } from '../edge/access-log.ts'
import { accessProcess } from '../logs/log-line.tsx'
import type { NewLine, Origin } from '../logs/log-line.tsx'
import { bytes, counted } from '../web/units.ts'

/** Stored log lines per second, for one environment or service and for all of them, and their burst. */
const bounds = { each: { rate: 20, burst: 1000 }, all: { rate: 500, burst: 2000 } }

/** Seconds of the rate that must accumulate before lines are stored again: one gap instead of many. */
const saved = 5

/** Milliseconds by which lines of several edges may change places; a clock that goes further back was set. */
const mixed = 60_000

/** Those that had no request for longest are forgotten. */
const mostSources = 10_000

/** A name that no container of a release has. */
const origin: Origin = {
  deploymentId: '',
  container: 'davit-edge',
  process: accessProcess,
  replica: null,
}

/**
 * Decides which requests get a line in the log of their environment or service: at high rates not all do,
 * so that they don't displace the app's own output. Failed requests have their own budget.
 */
export class KeptLines {
  /** Those with the latest requests, the last one last. */
  readonly #sources = new Map<string, { usual: Allowance; failed: Allowance; left: number }>()
  readonly #all = new Allowance(bounds.all)

  /** The lines to store for a request: none, its line, or a note on how many are missing and its line. */
  of(sourceId: string, request: AccessLine): NewLine[] {
    const source = this.#sourceOf(sourceId)
    const { time, requests } = request
    const isFailed = request.status >= 500
    const isAllowed = (isFailed && source.failed.take(time)) || source.usual.take(time)
    if (!isAllowed || !this.#all.take(time)) {
      source.left += requests
      return []
    }
    const stream = isFailed ? 'stderr' : 'stdout'
    const line: NewLine = { time, stream, text: textOf(request), origin }
    const missing = source.usual.isSaving ? 0 : source.left
    source.left += requests - 1 - missing
    if (missing === 0) return [line]
    const text = noteOf(missing)
    return [{ time, stream: 'system', text, origin }, line]
  }

  #sourceOf(sourceId: string) {
    const source = this.#sources.get(sourceId) ?? {
      usual: new Allowance(bounds.each),
      failed: new Allowance(bounds.each),
      left: 0,
    }
    this.#sources.delete(sourceId)
    this.#sources.set(sourceId, source)
    if (this.#sources.size > mostSources) this.#sources.delete(this.#sources.keys().next().value!)
    return source
  }
}

/** A token bucket. Once empty, it refills a bit before it allows again, for one gap instead of many. */
class Allowance {
  isSaving = false
  readonly #rate: number
  readonly #burst: number
  #left: number
  #time = 0

  constructor({ rate, burst }: { rate: number; burst: number }) {
    this.#rate = rate
    this.#burst = burst
    this.#left = burst
  }

  take(time: number) {
    const passed = Math.max(0, time - this.#time) / 1000
    this.#time = time < this.#time - mixed ? time : Math.max(this.#time, time)
    this.#left = Math.min(this.#burst, this.#left + passed * this.#rate)
    if (this.#left < (this.isSaving ? Math.min(this.#rate * saved, this.#burst) : 1)) {
      this.isSaving = true
      return false
    }
    this.isSaving = false
    this.#left--
    return true
  }
}

const noteOf = (count: number) =>
  `There is no log line here for ${counted(count, 'request')}, because of the rate. All are counted.`

/** Characters of a path that are stored. */
const longest = 2000

function textOf({ method, host, path, status, seconds, sent, received, client }: AccessLine) {
  const asked = `${method} ${host}${path}`
  return [
    `${visible(asked.length > longest ? `${asked.slice(0, longest)}…` : asked)} → ${status || 'broken off'}`,
    `${(seconds * 1000).toFixed(seconds < 0.1 ? 1 : 0)} ms`,
    bytes(sent),
    ...(received > 0 ? [`${bytes(received)} received`] : []),
    visible(client),
  ].join(', ')
}

/** Escapes text from visitors: it must not move the cursor or change the text direction. */
const visible = (text: string) =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (character) => {
    const code = character.codePointAt(0)!.toString(16).padStart(2, '0')
    return code.length > 2 ? `\\u{${code}}` : `\\x${code}`
  })

import type { RollbackReason, VersionFigures, WatchVerdict } from '../../db/schema.ts'
import type { EngineEvent } from '../../docker/index.ts'
import type { Estimated } from '../../traffic/watched.ts'
import { counted } from '../../web/units.ts'

/** Failed health checks in a row that count. */
const maxFailures = 3

/**
 * Requests from which a share of errors counts, that share, and how many times the share before. Each of these
 * requests has a line, and so has each of the errors: what one line stands for is a guess about an app with few of many.
 */
const errorRule = { requests: 20, share: 0.05, times: 3 }

/** How a container ended by itself; the exit code is null while unknown. */
export type Ended = { exitCode: number | null; isOutOfMemory: boolean }

type Heard = Pick<EngineEvent, 'id' | 'action' | 'attributes'>

/** Signals that don’t end a program that expects them: HUP, USR1, USR2. */
const harmless = new Set(['1', '10', '12'])

/** Tells containers that end by themselves from those that someone stops: a stop begins with its signal. */
export class Ends {
  readonly #stopping = new Set<string>()

  /** Also when a process of it was killed for memory. Null for other events, and for a stop. */
  hear({ id, action, attributes }: Heard): Ended | null {
    if (action === 'oom') return { exitCode: null, isOutOfMemory: true }
    if (action === 'start') this.#stopping.delete(id)
    if (action === 'kill' && !harmless.has(attributes.signal ?? '')) this.#stopping.add(id)
    if (action !== 'die' || this.#stopping.has(id)) return null
    return { exitCode: Number(attributes.exitCode), isOutOfMemory: false }
  }
}

/** Counts the failed health checks of containers in a row. */
export class Failures {
  readonly #counts = new Map<string, number>()

  /** Returns true when so many in a row failed that they count. */
  add(id: string, { passed }: { passed: boolean }) {
    const count = passed ? 0 : (this.#counts.get(id) ?? 0) + 1
    this.#counts.set(id, count)
    return count >= maxFailures
  }
}

/** `name` is that of a container in a sentence, such as "the app"; `estimated` requests have no line. */
export type Observation =
  | { kind: 'crash'; name: string; ended: Ended; memoryMb: number }
  | { kind: 'health'; name: string }
  | { kind: 'errors'; after: VersionFigures; before: VersionFigures; estimated: Estimated }

type ObservationOf<Kind> = Extract<Observation, { kind: Kind }>

/** Null when it is no reason to go back. */
export function verdictOf(on: readonly RollbackReason[], seen: Observation): WatchVerdict | null {
  if (!on.includes(seen.kind)) return null
  if (seen.kind === 'errors') return hasErrors(seen) ? failed(seen) : null
  return seen.kind === 'crash' ? crashed(seen) : unhealthy(seen)
}

const fix = 'Fix what its last lines report, then deploy again.'

function crashed({ name, ended: { exitCode, isOutOfMemory }, memoryMb }: ObservationOf<'crash'>) {
  const how = isOutOfMemory
    ? `ran out of memory (its limit is ${memoryMb} MiB)`
    : `exited${exitCode === null ? '' : ` with code ${exitCode}`}`
  return {
    code: 'crashed_after_switch',
    message: `After the switch ${name} ${how}.`,
    hint: isOutOfMemory
      ? 'Raise its memory limit, or reduce its memory use, then deploy again.'
      : fix,
  }
}

/** Without what the check printed: it may have secrets, and this is sent to others. */
const unhealthy = ({ name }: ObservationOf<'health'>) => ({
  code: 'unhealthy_after_switch',
  message: `After the switch ${name} failed its health check ${maxFailures} times in a row.`,
  hint: fix,
})

function hasErrors({ after, before, estimated }: ObservationOf<'errors'>) {
  const share = shareOf({
    requests: after.requests - estimated.errors,
    errors: after.errors - estimated.errors,
  })
  const lines = after.requests - estimated.requests
  const isHigh = lines >= errorRule.requests && share >= errorRule.share
  return isHigh && share >= errorRule.times * shareOf(before)
}

const failed = ({ after, before }: ObservationOf<'errors'>) => ({
  code: 'errors_after_switch',
  message: `After the switch ${after.errors.toLocaleString('en')} of ${counted(after.requests, 'request')} failed with a status 5xx (${percentOf(after)}); of those to the version before it was ${percentOf(before)}.`,
  hint: 'Fix what the failed requests and its last lines report, then deploy again.',
})

const shareOf = ({ requests, errors }: Estimated) => (requests > 0 ? errors / requests : 0)

const percentOf = (figures: VersionFigures) => `${Number((shareOf(figures) * 100).toFixed(1))} %`

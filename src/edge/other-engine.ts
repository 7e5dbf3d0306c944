import { Failure } from '../platform/errors.ts'

export type Abortable = { signal: AbortSignal }

type File = { path: string; content: string | Uint8Array; mode: number }

/** The engine of another server, for the edge there. */
export type OtherEngine = {
  /** The id of its container; null when there is none. */
  find(options: Abortable): Promise<string | null>
  /** Copies the image of Caddy there, if it isn't. */
  prepare(options: Abortable): Promise<void>
  /** Makes Caddy run there. */
  ensure(options: Abortable): Promise<string>
  /** Writes files below a folder of the container. */
  put(id: string, options: Abortable & { path: string; files: File[] }): Promise<void>
  /** Removes folders where its image has the program for it. */
  sweep(id: string, options: Abortable & { paths: string[] }): Promise<void>
  /** Loads the configuration in a file; throws what Caddy says against it. */
  load(id: string, options: Abortable & { path: string }): Promise<void>
  /** Its requests from now on, until the container ends. */
  lines(id: string, options: Abortable): AsyncIterable<string[]>
  /** Removes it once its open requests have ended, and all that it has. */
  remove(options: Abortable): Promise<void>
}

/** A certificate of Caddy's: what its files `crt` and `key` contain. */
export type CertificateFiles = { crt: Uint8Array; key: Uint8Array }

/** Milliseconds for a call, and for a copy of Caddy's image. */
const usualTime = 30_000
const imageTime = 600_000

/** A Docker that hangs would keep an edge from ever having what is new: each call ends, and is repeated by the next look. */
export function inTime(engine: OtherEngine, callTime = usualTime): OtherEngine {
  const timed =
    <Rest extends [...unknown[], Abortable], Answer>(
      call: (...args: Rest) => Promise<Answer>,
      time = callTime,
    ) =>
    async (...args: Rest) => {
      const late = AbortSignal.timeout(time)
      const options = args.at(-1) as Abortable
      const signal = AbortSignal.any([options.signal, late])
      try {
        return await call(...([...args.slice(0, -1), { ...options, signal }] as Rest))
      } catch (error) {
        throw late.aborted ? unanswered(error) : error
      }
    }
  return {
    ...engine,
    find: timed(engine.find),
    prepare: timed(engine.prepare, imageTime),
    ensure: timed(engine.ensure),
    put: timed(engine.put),
    sweep: timed(engine.sweep),
    load: timed(engine.load),
  }
}

export const unanswered = (cause: unknown) =>
  new Failure(
    'edge_timeout',
    'Docker there didn’t do what it was asked in time.',
    'Check the load of that server, and Docker’s log there (journalctl -u docker).',
    { cause },
  )

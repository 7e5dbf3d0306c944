import type { Abortable, Engine, RegistryAuth, RequestOptions } from './engine.ts'
import { EngineError, isEngineTimeout } from './failures.ts'
import { encodeReference, hasImage } from './images.ts'
import { readJsonLines } from './lines.ts'
import { explainPull, noAnswer } from './pull-failures.ts'
import type { LayerProgress, PullWatch } from './pull-pace.ts'

type PullOptions = Abortable & {
  auth?: RegistryAuth | undefined
  /** How failures name the image; by default the reference. */
  as?: string
  /** Such as `linux/arm64`; by default the engine's own. */
  platform?: string
} & Pick<PullWatch, 'ownerId' | 'isAwaited' | 'paces'>

type Timed = Pick<RequestOptions, 'signal' | 'timeout'>

type Sent = {
  id?: string
  status?: string
  progressDetail?: { current?: number; total?: number }
  error?: string
}

/** Pulls an image and yields its progress. Aborting, or leaving the loop, ends it. */
export async function* pullImage(
  engine: Engine,
  ref: string,
  { auth, as = ref, platform, signal: outer, ...watched }: PullOptions = {},
): AsyncGenerator<LayerProgress> {
  const query = { fromImage: withTag(ref), platform }
  using watch = engine.pulls.watch({ ...watched, as })
  const signal = outer ? AbortSignal.any([outer, watch.signal]) : watch.signal
  const bytes = engine.stream('POST', '/images/create', { query, auth, signal })
  try {
    for await (const sent of readJsonLines<Sent>(bytes)) {
      if (sent.error) throw new EngineError(500, sent.error)
      const progress = toProgress(sent)
      if (!progress) continue
      watch.take(progress)
      yield progress
    }
  } catch (error) {
    throw error instanceof EngineError ? explainPull(as, error) : error
  }
  // an engine that is stopped ends the response normally
  if (!(await hasImage(engine, ref, { signal: outer }))) throw engine.hungUp()
}

/**
 * The digest that a registry has for a reference. The engine requests it, with the given login, so only a
 * user who may pull the image gets one. Throws what a pull would throw.
 */
export async function imageDigest(
  engine: Engine,
  ref: string,
  { auth, as = ref, signal, timeout }: Pick<PullOptions, 'auth' | 'as'> & Timed = {},
): Promise<string> {
  try {
    const path = `/distribution/${encodeReference(ref)}/json`
    type Found = { Descriptor: { digest: string } }
    return (await engine.request<Found>('GET', path, { auth, signal, timeout })).Descriptor.digest
  } catch (error) {
    if (isEngineTimeout(error)) throw noAnswer(as, error)
    throw error instanceof EngineError ? explainPull(as, error) : error
  }
}

/** Without a tag the engine would pull every tag. */
const withTag = (ref: string) => (/[:@][^/]*$/.test(ref) ? ref : `${ref}:latest`)

/** The first message has the tag where the others have the layer. */
function toProgress({ id, status = '', progressDetail = {} }: Sent): LayerProgress | null {
  if (!id || status.startsWith('Pulling from ')) return null
  return {
    layer: id,
    status,
    current: progressDetail.current ?? 0,
    total: progressDetail.total ?? 0,
  }
}

/** Checks a login. Throws an EngineError: 401 when the registry refuses it, 500 when it's unreachable. */
export const checkRegistry = (engine: Engine, auth: RegistryAuth, { signal }: Abortable = {}) =>
  engine.request('POST', '/auth', { body: auth, signal, timeout: 10_000 }).catch((error) => {
    throw isEngineTimeout(error)
      ? new EngineError(504, `no response from ${auth.serveraddress}`)
      : error
  })

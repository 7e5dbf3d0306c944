import type { Abortable, Engine, RegistryAuth } from './engine.ts'
import { EngineError } from './failures.ts'
import { encodeReference } from './images.ts'
import { readJsonLines } from './lines.ts'
import { explainPush } from './pull-failures.ts'

type PushOptions = Abortable & {
  auth: RegistryAuth | undefined
  /** How failures name the image. */
  as: string
  /** Milliseconds without any progress after which it is given up. */
  timeoutMs?: number
}

type Sent = { error?: string; aux?: { Digest?: string } }

/** Pushes an image under its name, with a tag; layers that the registry has are skipped. Resolves with its digest there. */
export async function pushImage(
  engine: Engine,
  ref: string,
  { auth, as, signal: outer, timeoutMs = 120_000 }: PushOptions,
): Promise<string> {
  const colon = ref.lastIndexOf(':')
  const [path, tag] = [`/images/${encodeReference(ref.slice(0, colon))}/push`, ref.slice(colon + 1)]
  const idle = new AbortController()
  const timer = setTimeout(() => idle.abort(), timeoutMs)
  const signal = outer ? AbortSignal.any([outer, idle.signal]) : idle.signal
  // the engine refuses a push without any
  const anyone = { username: '', password: '', serveraddress: '' }
  let digest: string | undefined
  try {
    const call = { query: { tag }, auth: auth ?? anyone, signal }
    for await (const { error, aux } of readJsonLines<Sent>(engine.stream('POST', path, call))) {
      if (error) throw new EngineError(500, error)
      timer.refresh()
      digest = aux?.Digest ?? digest
    }
  } catch (error) {
    outer?.throwIfAborted()
    if (idle.signal.aborted) throw explainPush(as, new EngineError(504, 'i/o timeout'))
    throw error instanceof EngineError ? explainPush(as, error) : error
  } finally {
    clearTimeout(timer)
  }
  if (!digest) throw engine.hungUp()
  return digest
}

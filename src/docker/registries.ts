import type { Engine, RegistryAuth } from './engine.ts'

/** Has the engine log in at a registry. Throws EngineError: 401 when it refuses, 500 when it can't be reached. */
export const checkRegistry = (
  engine: Engine,
  auth: RegistryAuth,
  { signal }: { signal?: AbortSignal | undefined } = {},
) => engine.request('POST', '/auth', { body: auth, signal, timeout: 10_000 })

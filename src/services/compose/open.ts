import { readEnvFile } from './env-file.ts'
import { importCoolify, isCoolify } from './import-coolify.ts'
import { importDokploy, unpackDokploy } from './import-dokploy.ts'
import type { Origin } from '../../platform/yaml.ts'
import { readCompose } from './template.ts'
import type { Template } from './template.ts'

/**
 * Reads a user's file and detects its kind: a Compose file with or without `x-davit`, a template of Coolify,
 * or Dokploy's base64 text. `env` has the pairs of the `.env` beside it.
 */
export function openTemplate(
  text: string,
  origin: Origin,
  { name, env = new Map() }: { name: string; env?: ReadonlyMap<string, string> },
): Template {
  const dokploy = unpackDokploy(text)
  if (dokploy) return importDokploy(dokploy, origin, { name })
  const ours = /^["']?x-davit["']?\s*:/m.test(text)
  if (!ours && isCoolify(text)) return importCoolify(text, origin, { name, env })
  return readCompose(text, origin, { env })
}

/** Runs on the worker. */
export function openOwnFile(
  compose: string,
  env: string | null,
  { name }: { name: string },
): Template {
  const origin = { file: 'compose.yaml', field: 'compose' }
  const pairs = env === null ? {} : { env: defaultsIn(env) }
  return openTemplate(compose, origin, { name, ...pairs })
}

/** A default that refers to an unset value is omitted, and computed once that is set. */
function defaultsIn(env: string) {
  const waiting: string[] = []
  const onUnset = (_: string, key: string) => waiting.push(key)
  const pairs = readEnvFile(env, { lookup: () => undefined, onUnset })
  for (const key of waiting) pairs.delete(key)
  return pairs
}

import { jsonOrNull } from '../platform/json.ts'

/** The authority's error. The type is the end of the problem's URN (RFC 8555, 6.7); null without one. */
export type Problem = { type: string | null; detail: string }

/** Characters of a line above which it isn't parsed; Caddy's own are shorter. */
const maxLine = 32 * 1024

/** Why Caddy couldn't get a certificate for a host; null when the line doesn't report that. */
export function problemIn(line: string, host: string): Problem | null {
  if (line.length > maxLine || !line.includes(failed) || !line.includes(host)) return null
  const { identifier, msg, error } = (jsonOrNull(line) ?? {}) as Record<string, unknown>
  if (identifier !== host || msg !== failed || typeof error !== 'string') return null
  const said = /HTTP \d+ urn:ietf:params:acme:error:(\w{1,40}) - (.*)/s.exec(error)
  return said ? { type: said[1]!, detail: said[2]! } : { type: null, detail: error }
}

const failed = 'could not get certificate from issuer'

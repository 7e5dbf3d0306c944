export const allLevels = ['error', 'warn', 'info', 'debug'] as const

export type Level = (typeof allLevels)[number]

/** Characters of a line that are searched for its level. */
const looked = 400

const escapes = /\u001b\[[0-9;:]*m/g

/** A level in a field: in JSON, as `level=error`, or as a number by pino and bunyan. */
const field =
  /(?:^|[\s{,"])(?:level|severity|lvl|loglevel|levelname)"?\s{0,3}[:=]\s{0,3}"?([a-z]{3,11}|[1-6]0)\b/i

/** A level as a word: in capitals, in brackets, or as the first word before a colon. */
const capitals =
  /(?:^|[^A-Za-z0-9_-])(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERR|ERROR|CRITICAL|CRIT|ALERT|EMERG|EMERGENCY|FATAL|PANIC)(?![A-Za-z0-9_-])/
const bracketed =
  /\[(trace|debug|info|notice|warn|warning|error|crit|critical|alert|emerg|fatal)\]/i
const leading =
  /^(?:#\d+ (?:[\d.]+ )?)?(?:[^\s:]{1,80}(?::\d+){0,2}: )?(?:PHP )?(fatal|error|panic|warning|warn|failed|fail|debug|dbug|info|crit|trce)(?:\[\w+\]| \w+)?:/i
const tool = /^(?:#\d+ (?:[\d.]+ )?)?(?:npm|pnpm|yarn|bun) (error|warn)\b/i
const thrown =
  /^(?:#\d+ (?:[\d.]+ )?)?(?:Uncaught |Unhandled |Caused by: |Exception in thread )?(?:[\w.$]{0,80}(?:Error|Exception)\b(?:\s*\[\w+\])?(?::|$)|"[^"]{1,80}" [\w.]{1,80}(?:Error|Exception)|Traceback \(most recent call last\):|thread '[^']{0,80}' panicked at )/

const places = [leading, tool, field, capitals, bracketed]

/** As far as a line is searched, without colours. */
export const startOf = (text: string) =>
  (text.length > looked ? text.slice(0, looked) : text).replace(escapes, '')

/** Detects the level of a line; null when it has none. */
export function levelOf(text: string): Level | null {
  const plain = startOf(text)
  const said = places.map((place) => place.exec(plain)).find((found) => found !== null)
  if (said) return levels[said[1]!.toLowerCase()] ?? null
  return thrown.test(plain) ? 'error' : null
}

const levels: Record<string, Level> = {
  ...named('error', '50 60 err error fatal panic crit critical alert emerg emergency failed fail'),
  ...named('warn', '40 warn warning'),
  ...named('info', '30 info notice information'),
  ...named('debug', '10 20 trace debug verbose trce dbug'),
}

function named(level: Level, names: string) {
  return Object.fromEntries(names.split(' ').map((name) => [name, level]))
}

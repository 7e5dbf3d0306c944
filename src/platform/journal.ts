type Fields = Record<string, unknown>

type Level = 'info' | 'warn' | 'error'

/** A line of the log, for threads that write it themselves. */
export const journalLine = (level: Level, message: string, fields: Fields = {}) =>
  `${JSON.stringify({ time: new Date().toISOString(), level, message, ...fields })}\n`

function write(level: Level, message: string, fields: Fields) {
  process.stderr.write(journalLine(level, message, fields))
}

/** Davit's own log: one JSON object a line on stderr. */
export const journal = {
  info: (message: string, fields: Fields = {}) => write('info', message, fields),
  warn: (message: string, fields: Fields = {}) => write('warn', message, fields),
  /** The error is written with its stack and its causes: for the operator, never for a user. */
  error: (message: string, error: unknown, fields: Fields = {}) =>
    write('error', message, { ...fields, error: Bun.inspect(error, { colors: false }) }),
}

/** Failures of something that much else needs: logged once, and once more when they end. */
const lasting = 'engine_unreachable'
let isOutage = false

/** Logs failures of background work: those of the outside world in one line, bugs in full. */
export function report(what: string, error: unknown, fields: Fields = {}) {
  const isPartOfOutage = isFault(error) && error.code === lasting
  if (isPartOfOutage && isOutage) return
  if (isPartOfOutage) isOutage = true
  if (isFault(error)) journal.warn(`${what}: ${error.message}`, { ...fields, hint: error.hint })
  else journal.error(what, error, fields)
}

/** Logs that the engine is reachable again, if it was logged that it wasn't. */
export function reportEngineBack() {
  if (isOutage) journal.info('Docker can be reached again')
  isOutage = false
}

/** A `Failure` is known by its hint: the journal stands beside the errors and imports none. */
const isFault = (error: unknown): error is Error & { hint: string; code?: string } =>
  error instanceof Error && 'hint' in error

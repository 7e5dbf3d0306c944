type Fields = Record<string, unknown>

type Level = 'info' | 'warn' | 'error'

/** A line of the log, for a thread that has to write it itself. */
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

/** What fails everything that needs it for as long as it lasts: told once, and once when it is over. */
const lasting = 'engine_unreachable'
let isOutage = false

/** Tells the operator of trouble in the background: faults of the outside world in a line, bugs in full. */
export function report(what: string, error: unknown, fields: Fields = {}) {
  const isPartOfOutage = isFault(error) && error.code === lasting
  if (isPartOfOutage && isOutage) return
  if (isPartOfOutage) isOutage = true
  if (isFault(error)) journal.warn(`${what}: ${error.message}`, { ...fields, hint: error.hint })
  else journal.error(what, error, fields)
}

/** Tells that the engine can be reached again, where it was told that it can't. */
export function reportEngineBack() {
  if (isOutage) journal.info('the Docker Engine can be reached again')
  isOutage = false
}

/** A `Failure` is known by its hint: the journal stands beside the errors and imports none. */
const isFault = (error: unknown): error is Error & { hint: string; code?: string } =>
  error instanceof Error && 'hint' in error

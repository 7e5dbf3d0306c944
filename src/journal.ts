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

/** Tells the operator of trouble in the background: faults of the outside world in a line, bugs in full. */
export function report(what: string, error: unknown, fields: Fields = {}) {
  if (isFault(error)) journal.warn(`${what}: ${error.message}`, { ...fields, hint: error.hint })
  else journal.error(what, error, fields)
}

/** A `Failure` is known by its hint: the journal stands beside the errors and imports none. */
const isFault = (error: unknown): error is Error & { hint: string } =>
  error instanceof Error && 'hint' in error

type Fields = Record<string, unknown>

type Level = 'info' | 'warn' | 'error'

/** A line of the log, for threads that write it themselves. */
export const journalLine = (level: Level, message: string, fields: Fields = {}) =>
  `${JSON.stringify({ time: new Date().toISOString(), level, message, ...fields })}\n`

function write(level: Level, message: string, fields: Fields) {
  process.stderr.write(journalLine(level, message, fields))
}

/** Davit's own log: one JSON object per line on stderr. */
export const journal = {
  info: (message: string, fields: Fields = {}) => write('info', message, fields),
  warn: (message: string, fields: Fields = {}) => write('warn', message, fields),
  /** Includes the error's stack and causes: for the operator, never for a user. */
  error: (message: string, error: unknown, fields: Fields = {}) =>
    write('error', message, { ...fields, error: Bun.inspect(error, { colors: false }) }),
}

/** An outage on which much else depends: logged once, and once more when it ends. */
const lasting = 'engine_unreachable'
let isOutage = false

/** Logs a failure of background work: of the outside world in one line, a bug in full. */
export function report(what: string, error: unknown, fields: Fields = {}) {
  const isPartOfOutage = isFault(error) && error.code === lasting
  if (isPartOfOutage && isOutage) return
  if (isPartOfOutage) isOutage = true
  if (isFault(error)) journal.warn(`${what}: ${error.message}`, { ...fields, hint: error.hint })
  else journal.error(what, error, fields)
}

/** Background work that no one waits for: its failure is logged, and stops nothing else. */
export const reported = (work: Promise<void>) =>
  work.catch((error) => journal.error('background work failed', error))

/** Only logs it if the outage was logged. */
export function reportEngineBack() {
  if (isOutage) journal.info('Docker can be reached again')
  isOutage = false
}

/** Recognises a `Failure` by its hint: this file can't import the errors. */
const isFault = (error: unknown): error is Error & { hint: string; code?: string } =>
  error instanceof Error && 'hint' in error

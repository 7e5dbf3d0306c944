import type { LogWriter } from '../logs/log-writer.ts'
import { Failure } from '../platform/errors.ts'
import { bringImage } from '../runtime/volume-streams.ts'
import type { BackupDeps } from './deps.ts'

/**
 * Runs shell lines with each SQLite database below the current folder as `$file`. A name with a line break would be taken
 * for two lines.
 */
export const eachSqlite = (lines: string) => `find . -type f \\( -name '*.db' -o -name '*.db3' \\
-o -name '*.sqlite' -o -name '*.sqlite3' \\) ! -path '*
*' -exec sh -c 'for file; do
[ "$(head -c 15 "$file")" = "SQLite format 3" ] || continue
${lines}
done' sh {} +`

/** What SQLite writes for these databases: them, and what it keeps beside them. */
export const besides = (files: string[]) =>
  files.flatMap((file) => ['', '-wal', '-shm', '-journal'].map((end) => file + end))

/** True for a file that a plan names, or that is in a folder which it names. */
export const isNamed = (file: string, paths: string[]) =>
  paths.some((path) => file === path || file.startsWith(path.endsWith('/') ? path : `${path}/`))

type Bringing = {
  serverId: string
  ownerId: string
  /** What is so without it. */
  otherwise: string
  log: LogWriter
  signal: AbortSignal
}

/** Null when a server can’t get the image, which the log says. */
export async function sqliteImage(
  deps: BackupDeps,
  { otherwise, log, ...of }: Bringing,
): Promise<string | null> {
  const say = (line: string) => log.write(line)
  try {
    return await bringImage(deps, { ...of, image: deps.config.sqliteImage }, say)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    log.write(`${otherwise}: ${error.message}`)
    return null
  }
}

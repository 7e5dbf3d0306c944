import { LineSplitter } from '../../docker/lines.ts'
import type { LogWriter } from '../../logs/log-writer.ts'
import { Failure } from '../../platform/errors.ts'
import { firstServer } from '../../platform/root.ts'
import { runForBackup } from '../../runtime/backup-containers.ts'
import { counted } from '../../web/units.ts'
import type { BackupDeps } from '../deps.ts'
import { passOn } from '../recipes/tool.ts'
import { isNamed, sqliteImage } from '../sqlite.ts'

type Proving = {
  ownerId: string
  /** Files and folders that may be damaged. */
  accepted: string[]
  log: LogWriter
  signal: AbortSignal
}

/** `tables` is null when only the app could read all of it, or it took too long. */
type Opened = { file: string; tables: number | null; rows: number; wrong: string | null }

/** Characters of what is said of a file: its path alone may have 24,576. */
const longest = 32_768

/** Lines of the log. */
const maxLines = 1000

/**
 * Each database comes as a line with the bytes of it, of the two logs that SQLite may keep beside it, and its name; then their
 * content. It is opened as after a power cut. What only the app has, such as functions of its own, is no fault of the file,
 * nor is the end of its hour.
 */
const script = String.raw`
import json, os, sqlite3, sys, time
os.chdir('/work')
source = sys.stdin.buffer
no_fault = ('no such module', 'no such collation', 'no such function', 'unknown function', 'interrupted', 'disk is full')

def check():
    end = time.monotonic() + 3600
    db = sqlite3.connect('db')
    db.set_progress_handler(lambda: time.monotonic() > end, 100000)
    for pragma in ('trusted_schema = off', 'cell_size_check = on', 'ignore_check_constraints = on'):
        db.execute('PRAGMA ' + pragma)
    [found], = db.execute('PRAGMA integrity_check(1)')
    if found != 'ok':
        raise sqlite3.Error(found)
    names = [name.replace('"', '""') for [name] in db.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name NOT LIKE 'sqlite!_%' ESCAPE '!'")]
    return len(names), sum(db.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names)

while line := source.readline():
    *sizes, path = line.decode(errors='replace').rstrip('\n').split(' ', 3)
    for end, left in zip(('', '-wal', '-journal'), map(int, sizes)):
        with open('db' + end, 'wb') as out:
            while left > 0:
                part = source.read(min(left, 1 << 20)) or sys.exit('The files ended too early.')
                left -= out.write(part)
    tables, rows, wrong = None, 0, None
    try:
        tables, rows = check()
    except sqlite3.Error as error:
        if not any(text in str(error) for text in no_fault):
            wrong = str(error)[:300]
    print(json.dumps({'file': path, 'tables': tables, 'rows': rows, 'wrong': wrong}), flush=True)
    for name in os.listdir('.'):
        os.remove(name)
print(os.environ['DAVIT_END'], end='', flush=True)`

/** Opens the SQLite databases among the files of volumes, and returns the rows they have. Null when there is none. */
export async function proveSqlite(
  deps: BackupDeps,
  from: AsyncIterable<Uint8Array>,
  { ownerId, accepted, log, signal }: Proving,
): Promise<number | null> {
  const chunks = from[Symbol.asyncIterator]()
  const first: IteratorResult<Uint8Array> = await chunks.next()
  if (first.done) return null
  const otherwise = 'SQLite databases aren’t opened, only compared'
  const of = { serverId: firstServer, ownerId, signal }
  const image = await sqliteImage(deps, { ...of, otherwise, log })
  if (image === null) {
    for (;;) if ((await chunks.next()).done) return null // the restore waits for who reads it
  }
  const all = async function* () {
    yield first.value
    yield* { [Symbol.asyncIterator]: () => chunks }
  }
  const lines = new LineSplitter(longest)
  let [count, sum] = [0, 0]
  let damaged: Opened | null = null
  const take = (line: string) => {
    const opened = JSON.parse(line) as Opened
    sum += opened.rows
    const isAccepted = isNamed(opened.file, accepted)
    if (opened.wrong !== null && !isAccepted) damaged ??= opened
    const more = opened.wrong !== null && isAccepted ? ' The plan accepts that.' : ''
    if (++count <= maxLines) log.write(resultOf(opened) + more)
  }
  const { exitCode, oomKilled, stderr } = await runForBackup(deps, {
    ...{ ownerId, image, does: 'sqlite', isOnline: false, isMarked: true, signal },
    ...{ entrypoint: ['python3', '-c', script], user: '0:0', scratch: ['/work'] },
    ...{ readOnly: true, init: true, oomScoreAdj: 500 },
    ...{ memoryBytes: 512 * 2 ** 20, cpus: 1, pidsLimit: 32 },
    stdin: (to, signal) => passOn(all(), { to, signal }),
    async stdout(from) {
      for await (const chunk of from) for (const line of lines.push(chunk)) take(line)
    },
  })
  if (exitCode !== 0)
    throw new Error(`SQLite files couldn’t be read: ${oomKilled ? 'too little memory' : stderr}`)
  if (count > maxLines) log.write(`Opened ${counted(count - maxLines, 'more database')}.`)
  if (damaged) throw notSound(damaged)
  return sum
}

function resultOf({ file, tables, rows, wrong }: Opened) {
  if (wrong !== null) return `${file} can’t be used: ${wrong}`
  if (tables !== null)
    return `Opened ${file}: ${counted(tables, 'table')}, ${counted(rows, 'row')}.`
  return `Opened ${file}, of which not all can be read without its app, or within an hour.`
}

const notSound = ({ file, wrong }: Opened) =>
  new Failure(
    'proof_sqlite',
    `The SQLite database ${file} can’t be used: ${wrong}. The log lists any others.`,
    'If it was written to while it was copied, let the plan pause or stop the service. Otherwise it is damaged in the service, too: restore an earlier backup. If nothing needs it, let the plan accept it, or delete it there.',
  )

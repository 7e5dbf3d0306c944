import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { LineSplitter } from '../docker/lines.ts'
import type { LogWriter } from '../logs/log-writer.ts'
import { Failure } from '../platform/errors.ts'
import { runForBackup } from '../runtime/backup-containers.ts'
import { checkRoom } from '../runtime/check-room.ts'
import { listInVolumes, volumesFolder } from '../runtime/volume-streams.ts'
import type { Archive, Streamed } from '../runtime/volume-streams.ts'
import { bytes, counted } from '../web/units.ts'
import type { BackupDeps } from './deps.ts'
import { eachSqlite, isNamed, sqliteImage } from './sqlite.ts'

export type SqliteCopies = {
  /** Where the databases are, below the folder of volumes. */
  files: string[]
  /** Sends copies under the same paths, as an archive without its end. */
  send: Archive
}

type Copying = Streamed & {
  /** Files and folders that may be damaged. */
  accepted: string[]
  log: LogWriter
}

/** More databases, or characters of their paths, don’t fit into a command. */
const max = { files: 200, characters: 65_536 }

/** Characters of what is read of the list. */
const longest = 4 * 2 ** 20

const prefix = `${volumesFolder}/_`

/** The exit code after a database that can’t be copied. */
const notCopied = 3

/**
 * SQLite copies a database in one step, in which others may read, and write if it has a write-ahead log: then nothing
 * makes it begin again. What it can’t open read-only, as after a power cut, is copied with its logs if nothing writes
 * meanwhile, and so is what isn’t whole. `backup` itself would wait for a lock without an end. A copy has the time at which
 * it was made: restic takes a file with the size and the time of an earlier one for the same.
 */
const script = String.raw`
import json, os, shutil, sqlite3, stat, sys, tarfile, time
from urllib.parse import quote
os.chdir('/work')
out = sys.stdout.buffer
ends = ('', '-wal', '-journal')

def say(size, wrong):
    print(json.dumps({'file': file, 'size': size, 'wrong': wrong and wrong[:300]}), file=sys.stderr, flush=True)

def fail(wrong):
    say(None, str(wrong))
    sys.exit(${notCopied})

def copy():
    db = sqlite3.connect(f'file:{quote(os.fsencode(file))}?mode=ro', uri=True, timeout=30, isolation_level=None)
    try:
        db.execute('BEGIN')
        db.execute('PRAGMA schema_version').fetchone()
        to = sqlite3.connect('db')
        to.execute('PRAGMA synchronous = off')
        db.backup(to)
        to.close()
    finally:
        db.close()

def look():
    found = [os.lstat(file + end) if os.path.lexists(file + end) else None for end in ends]
    return [one and stat.S_ISREG(one.st_mode) and (one.st_ino, one.st_size, one.st_mtime_ns) for one in found]

def copy_files():
    before = look()
    try:
        for end, found in zip(ends, before):
            if found:
                shutil.copyfile(file + end, 'db' + end)
    except FileNotFoundError:
        return False
    return look() == before

def empty():
    for name in os.listdir('.'):
        os.remove(name)

def make():
    for _ in range(5):
        empty()
        try:
            return copy()
        except sqlite3.Error as error:
            wrong = str(error)
        if 'locked' in wrong or 'is full' in wrong:
            fail(wrong)
        empty()
        if copy_files():
            return wrong
    fail('it changes all the time, and ' + wrong)

def send():
    wrong = make()
    of = os.stat(file, follow_symlinks=False)
    for end in ends:
        if not os.path.exists('db' + end):
            continue
        info = tarfile.TarInfo((file + end).lstrip('/'))
        info.size, info.mode, info.mtime = os.path.getsize('db' + end), stat.S_IMODE(of.st_mode), int(time.time())
        info.uid, info.gid = of.st_uid, of.st_gid
        out.write(info.tobuf(tarfile.GNU_FORMAT, 'utf-8', 'surrogateescape'))
        with open('db' + end, 'rb') as made:
            shutil.copyfileobj(made, out, 1 << 20)
        out.write(bytes(-info.size % 512))
    say(os.path.getsize('db'), wrong)

for file in sys.argv[1:]:
    try:
        send()
    except OSError as error:
        if os.path.lexists(file):
            fail(error)
        say(None, None)
out.write(os.environ['DAVIT_END'].encode())
out.flush()
sys.stdin.read()`

type Copied = { file: string; size: number | null; wrong: string | null }

/**
 * Finds the SQLite databases in volumes that are written to, to be stored as copies that SQLite makes. Null without any,
 * or without the image that has it.
 */
export async function sqliteCopies(
  deps: BackupDeps,
  { accepted, ...copying }: Copying,
): Promise<SqliteCopies | null> {
  const { serverId, ownerId, log, signal } = copying
  const { files, size } = await find(deps, { accepted, ...copying })
  if (files.length === 0) return null
  const otherwise = 'SQLite databases are stored as any file, though they may be written to'
  const image = await sqliteImage(deps, { serverId, ownerId, otherwise, log, signal })
  if (image === null) return null
  const { folder } = await deps.docker.machine({ signal })
  // one of them once more while it is made
  const room = { whose: 'Docker', what: 'copies of SQLite databases', more: 2 * size } as const
  if (!deps.docker.remote) await checkRoom(folder, room)
  return { files, send: (to, signal) => send(deps, { ...copying, image, files, signal }, to) }
}

async function find(deps: BackupDeps, { accepted, log, ...streamed }: Copying) {
  const lines = String.raw`printf "%s %s\n" "$(stat -c %s "$file")" "$file"`
  const list = await listInVolumes(deps, streamed, { script: eachSqlite(lines), longest })
  const all = list.split('\n').flatMap((line) => {
    const [, size, path] = /^(\d+) \.\/(.+)$/s.exec(line) ?? []
    return path ? { size: Number(size), file: `${volumesFolder}/${path}` } : []
  })
  const wanted = all.filter(({ file }) => !isNamed(nameOf(file), accepted))
  let characters = 0
  const files = wanted.filter(({ file }, at) => {
    if (file.includes('\ufffd')) return false // isn’t UTF-8
    return at < max.files && (characters += file.length) <= max.characters
  })
  const left = wanted.length - files.length
  if (left > 0)
    log.write(
      `There are too many SQLite databases, or their names are odd: ${left} are stored as any file.`,
    )
  const size = files.reduce((sum, one) => sum + one.size, 0)
  return { files: files.map(({ file }) => file), size }
}

async function send(
  deps: BackupDeps,
  { image, files, log, ...of }: Omit<Copying, 'accepted'> & { image: string; files: string[] },
  to: Writable,
) {
  const { serverId, ownerId, volumes, signal } = of
  const lines = new LineSplitter(32_768)
  let last: Copied | null = null
  const take = (line: string) => {
    if (!line.startsWith('{')) return
    last = JSON.parse(line) as Copied
    log.write(resultOf(last))
  }
  log.write(`Copying ${counted(files.length, 'SQLite database')}.`)
  const there = { ...deps, docker: deps.engines.of({ serverId }) }
  const { exitCode, oomKilled, stderr } = await runForBackup(there, {
    ...{ ownerId, image, does: 'sqlite', isOnline: false, isMarked: true, signal },
    ...{ entrypoint: ['python3', '-c', script], command: files, user: '0:0' },
    ...{ scratch: ['/work'], capabilities: ['DAC_READ_SEARCH'] },
    volumes: volumes.map((volume) => ({ ...volume, readOnly: true })),
    ...{ readOnly: true, init: true, oomScoreAdj: 500 },
    ...{ memoryBytes: 512 * 2 ** 20, cpus: 1, pidsLimit: 32 },
    stdout: (from) => pipeline(from, to, { signal, end: false }),
    onStderr: (bytes) => lines.push(bytes).forEach(take),
  })
  if (exitCode === notCopied && last) throw cantCopy(last)
  if (exitCode !== 0)
    throw new Error(`SQLite couldn’t copy: ${oomKilled ? 'too little memory' : stderr}`)
}

const nameOf = (file: string) => file.slice(prefix.length)

function resultOf({ file, size, wrong }: Copied) {
  const name = nameOf(file)
  if (size === null) return `${name} isn’t copied: ${wrong ?? 'it was deleted meanwhile'}.`
  if (wrong === null) return `Copied ${name}, ${bytes(size)}.`
  return `SQLite can’t open ${name} (${wrong}), so it is copied with its logs, as nothing wrote to it.`
}

const cantCopy = ({ file, wrong }: Copied) =>
  new Failure(
    'sqlite_not_copied',
    `The SQLite database ${nameOf(file)} can’t be copied while its app runs: ${wrong}.`,
    'Let the plan pause or stop the service. If nothing needs the database, let the plan accept that it may be damaged.',
  )

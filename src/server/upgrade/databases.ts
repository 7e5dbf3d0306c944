import {
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { copyDatabase } from '../../db/copy.ts'
import { openDatabase } from '../../db/index.ts'
import { lockDataDir } from '../../db/instance-lock.ts'
import { noteWhatRan } from '../../db/restored.ts'
import { closeCleanly } from '../../db/wal-guard.ts'
import { sync } from '../../platform/atomic-write.ts'
import { asCaller } from '../../platform/effective-user.ts'
import { asDavit } from '../accounts.ts'
import type { Places, Upgrade } from './journal.ts'

const { O_CREAT, O_EXCL, O_WRONLY } = constants

/** Davit's user writes a copy of a database here, for root to copy again. */
const draftOf = (path: string) => `${path}.copying`

const copyOf = (places: Places, name: string) => join(places.state, name)

/**
 * Copies the databases of a stopped server. A server that gets them back reconciles what
 * runs, as after a restore: the new version may have changed it.
 */
export function copyDatabases(places: Places, { dataDir, databases }: Upgrade) {
  using _hold = asDavit(() => lockDataDir(dataDir))
  mkdirSync(places.state, { recursive: true, mode: 0o700 })
  for (const name of databases) {
    const copy = copyOf(places, name)
    removeDatabase(copy)
    asDavit(() => copyOut(join(dataDir, name), copy))
    if (name === 'davit.db') noteIn(copy)
    sync(copy)
  }
  sync(places.state)
}

/** Davit's user can't write the copy itself, so it copies the database beside it, for root to read. */
function copyOut(path: string, copy: string) {
  const draft = draftOf(path)
  removeDatabase(draft)
  try {
    copyDatabase(path, draft)
    fill(
      asCaller(() => openSync(copy, O_WRONLY | O_CREAT | O_EXCL, 0o600)),
      openSync(draft, 'r'),
    )
  } finally {
    removeDatabase(draft)
  }
}

function noteIn(copy: string) {
  const db = openDatabase(copy)
  noteWhatRan(db)
  closeCleanly(db.$client)
  for (const end of ['-wal', '-shm']) rmSync(copy + end, { force: true })
}

/** Replaces the databases of a new version by the copies. Repeatable. */
export function putDatabasesBack(places: Places, { dataDir, databases }: Upgrade) {
  using _hold = asDavit(() => lockDataDir(dataDir))
  asDavit(() => {
    for (const name of databases) putBack(copyOf(places, name), join(dataDir, name))
    sync(dataDir)
  })
}

function putBack(copy: string, path: string) {
  const draft = `${path}.reverting`
  rmSync(draft, { force: true })
  fill(
    openSync(draft, O_WRONLY | O_CREAT | O_EXCL, 0o600),
    asCaller(() => openSync(copy, 'r')),
  )
  // a log of the newer file must not be applied to the older one
  for (const end of ['-wal', '-shm', '-in-use']) rmSync(path + end, { force: true })
  renameSync(draft, path)
}

/** Copies an open file into another one, and closes both. */
function fill(target: number, source: number) {
  try {
    const bytes = Buffer.allocUnsafe(2 ** 20)
    for (let count; (count = readSync(source, bytes)) > 0;)
      for (let at = 0; at < count;) at += writeSync(target, bytes, at, count - at)
    fsyncSync(target)
  } finally {
    closeSync(source)
    closeSync(target)
  }
}

export function removeCopies(places: Places, { dataDir }: Pick<Upgrade, 'dataDir'>) {
  for (const name of ['davit.db', 'logs.db']) {
    removeDatabase(copyOf(places, name))
    asDavit(() => removeDatabase(draftOf(join(dataDir, name)))) // of an interrupted copy
  }
}

/** Also removes files that SQLite may have left beside it. */
function removeDatabase(path: string) {
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
}

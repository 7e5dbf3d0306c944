import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { checkDatabase, installationIn } from '../db/copy.ts'
import { openExisting } from '../db/index.ts'
import { checkKey } from '../db/installation.ts'
import { refuseLostWal } from '../db/wal-guard.ts'
import { Failure } from '../platform/errors.ts'
import { openSecrets } from '../platform/secrets.ts'
import { runCheck, ok, wrong } from './finding.ts'
import type { Finding } from './finding.ts'
import { newestTime } from './store.ts'

type DataConfig = Pick<Config, 'dataDir' | 'secretKey' | 'edge'>

/** Checks the permissions of the data directory, that the databases are intact, and that the key fits. */
export async function checkData(place: DataConfig): Promise<Finding[]> {
  const { dataDir } = place
  const path = join(dataDir, 'davit.db')
  if (!existsSync(path))
    return [ok('data', `nothing in ${dataDir} yet: the first start creates it`)]
  const database = await runCheck('database', () => judgeDatabase('database', path))
  const isSound = database.every(({ todo }) => todo === null)
  const logs = join(dataDir, 'logs.db')
  const others = [
    isSound ? runCheck('key', () => judgeKey(place, path)) : [],
    isSound ? runCheck('schema', () => judgeSchema(path)) : [],
    existsSync(logs) ? runCheck('logs', () => judgeDatabase('logs', logs)) : [],
  ]
  return [judgeRights(place), ...database, ...(await Promise.all(others)).flat()]
}

function judgeRights({ dataDir, edge }: DataConfig) {
  const { mode, uid } = statSync(dataDir)
  if (uid !== process.getuid?.())
    return wrong(
      'data',
      `${dataDir} belongs to another user`,
      'Run this command as the user who runs Davit.',
    )
  if (edge === 'external' && (mode & 0o066) === 0)
    return ok('data', `${dataDir} can be entered by your Caddy, and read only by its owner`)
  return (mode & 0o077) === 0
    ? ok('data', `${dataDir} is for its owner only`)
    : wrong('data', `${dataDir} can be entered by others`, `Restrict it: chmod 700 ${dataDir}`)
}

function judgeDatabase(what: string, path: string) {
  refuseLostWal(path)
  checkDatabase(path)
  return [ok(what, `${path} is intact`)]
}

function judgeKey(place: DataConfig, database: string) {
  const installation = installationIn(database)
  if (installation) checkKey(installation, openSecrets(place))
  if (place.secretKey) return [ok('key', 'DAVIT_SECRET_KEY opens the secrets')]
  const path = join(place.dataDir, 'secret.key')
  return (statSync(path).mode & 0o077) === 0
    ? [ok('key', `${path} is for its owner only`)]
    : [wrong('key', `${path} can be read by others`, `Restrict it: chmod 600 ${path}`)]
}

function judgeSchema(path: string): Finding[] {
  try {
    const db = openExisting(path)
    using _ = db.$client
    return [ok('schema', 'that of this version'), judgeNewest(newestTime(db))]
  } catch (error) {
    if (!(error instanceof Failure && error.code === 'database_older')) throw error
    return [ok('schema', 'of an older version: the next start upgrades it')]
  }
}

function judgeNewest(newest: Date | null) {
  if (!newest) return ok('time', 'nothing has been written yet')
  const is = `the newest entry is from ${newest.toISOString()}`
  return newest.getTime() <= Date.now() + 60_000
    ? ok('time', is)
    : wrong(
        'time',
        `${is}, which is in the future`,
        'Set the clock of this machine: it was set back.',
      )
}

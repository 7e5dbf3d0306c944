import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { checkDatabase } from '../db/copy.ts'
import { openExisting } from '../db/index.ts'
import { checkKey } from '../db/installation.ts'
import { installationIn } from '../db/copy.ts'
import { refuseLostTail } from '../db/unclean.ts'
import { Failure } from '../errors.ts'
import { openSecrets } from '../secrets.ts'
import { ok, wrong } from './finding.ts'
import type { Finding } from './finding.ts'
import { newestTime } from './store.ts'

type Place = Pick<Config, 'dataDir' | 'secretKey'>

/** The data directory: who may read it, whether the databases are sound and the key is theirs. */
export function lookAtData({ dataDir, secretKey }: Place): Finding[] {
  const path = join(dataDir, 'davit.db')
  if (!existsSync(path)) return [ok('data', `nothing in ${dataDir} yet: the first start makes it`)]
  const findings = [lookAtRights(dataDir)]
  if (!secretKey) findings.push(lookAtKeyFile(join(dataDir, 'secret.key')))
  refuseLostTail(path)
  checkDatabase(path)
  findings.push(ok('database', `${path} is sound`))
  const installation = installationIn(path)
  if (installation) checkKey(installation, openSecrets({ dataDir, secretKey }))
  findings.push(...lookInside(path))
  const logs = join(dataDir, 'logs.db')
  if (existsSync(logs)) {
    checkDatabase(logs)
    findings.push(ok('logs', `${logs} is sound`))
  }
  return findings
}

function lookAtRights(dataDir: string) {
  const { mode, uid } = statSync(dataDir)
  if (uid !== process.getuid?.())
    return wrong('data', `${dataDir} is another user’s`, 'Run this as the user who runs Davit.')
  return (mode & 0o077) === 0
    ? ok('data', `${dataDir} is for its owner only`)
    : wrong('data', `${dataDir} can be entered by others`, `Take that away: chmod 700 ${dataDir}`)
}

function lookAtKeyFile(path: string) {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode
  if (mode === undefined)
    return wrong(
      'key',
      `${path} is missing`,
      'Put it back from a backup: without it no secret can be read.',
    )
  return (mode & 0o077) === 0
    ? ok('key', `${path} is for its owner only`)
    : wrong('key', `${path} can be read by others`, `Take that away: chmod 600 ${path}`)
}

function lookInside(path: string): Finding[] {
  try {
    const db = openExisting(path)
    try {
      return [ok('schema', 'that of this version'), lookAtNewest(newestTime(db))]
    } finally {
      db.$client.close()
    }
  } catch (error) {
    if (!(error instanceof Failure && error.code === 'database_older')) throw error
    return [ok('schema', 'of an older version: the next start upgrades it')]
  }
}

function lookAtNewest(newest: Date | null) {
  if (!newest) return ok('time', 'nothing was written yet')
  const is = `the newest entry is of ${newest.toISOString()}`
  return newest.getTime() <= Date.now() + 60_000
    ? ok('time', is)
    : wrong('time', `${is}, which is yet to come`, 'Set the clock of this machine: it went back.')
}

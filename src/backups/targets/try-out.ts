import type { Config } from '../../config.ts'
import type { Db } from '../../db/index.ts'
import { AppError, Failure, invalidField } from '../../platform/errors.ts'
import type { Secrets } from '../../platform/secrets.ts'
import type { StoredSnapshot } from '../restic/restic.ts'
import { backupTag } from '../repository.ts'
import { listLost } from '../store.ts'
import { withLogin } from './store.ts'
import type { OpenTarget } from './store.ts'

export type TargetDeps = {
  db: Db
  secrets: Secrets
  config: Config
  targets: {
    /** Creates its repository if it is missing and may be; writes, reads and deletes a snapshot. */
    tryOut: (
      target: OpenTarget,
      options: { signal: AbortSignal; mustExist: boolean },
    ) => Promise<{ hostKey: string | null }>
    /** The snapshots of its repository. */
    list: (target: OpenTarget, options: { signal: AbortSignal }) => Promise<StoredSnapshot[]>
  }
}

/** Milliseconds, less than such a request may take: what is too late must not be stored unseen. */
const tryFor = 50_000

/**
 * Throws unless the target can be used. A failure that a field caused is reported at that field. With `missing`
 * the repository must be there already. Also finds what `findLost` does; null if that fails, or takes too long.
 */
export async function tryOut(
  deps: TargetDeps,
  target: OpenTarget,
  { missing, ...request }: { signal: AbortSignal; missing?: AppError | null },
) {
  const late = AbortSignal.timeout(tryFor)
  const signal = AbortSignal.any([request.signal, late])
  const mustExist = !!missing
  try {
    const { hostKey } = await deps.targets.tryOut(withLogin(target), { signal, mustExist })
    const known = { ...target, hostKey: hostKey ?? target.hostKey }
    const lost = await findLost(deps, known, { signal }).catch((error) => {
      if (request.signal.aborted || !(late.aborted || error instanceof Failure)) throw error
      return null
    })
    return { hostKey, lost }
  } catch (error) {
    if (late.aborted)
      throw new AppError(
        'bad_gateway',
        `The target could not be tried out within ${tryFor / 1000} seconds. Try again; the first time the image of restic is pulled.`,
      )
    if (missing && error instanceof Failure && error.code === 'target_missing') throw missing
    const field = error instanceof Failure && fieldAtFault(target, error.code)
    throw field ? invalidField(field, `${error.message} ${error.hint}`) : error
  }
}

/** Ids of its owner’s backups that its repository has, and whose target was removed. */
async function findLost(
  { db, targets }: TargetDeps,
  target: OpenTarget,
  { signal }: { signal: AbortSignal },
): Promise<string[]> {
  const lost = listLost(db, target.ownerId)
  if (lost.length === 0) return []
  const listed = await targets.list(withLogin(target), { signal })
  const snapshots = new Set(listed.map(({ id }) => id))
  const tags = new Set(listed.flatMap((one) => one.tags))
  // of one that a plan has removed, the rest is to be removed
  return lost
    .filter(({ goneAt, files }) => goneAt || files.every((one) => snapshots.has(one.snapshot)))
    .filter((one) => tags.has(backupTag(one)))
    .map(({ id }) => id)
}

export const addressOf = { s3: 'endpoint', sftp: 'host', rest: 'url', directory: 'path' }
const loginOf = { s3: 'secretKey', sftp: 'key', rest: 'userPassword', directory: 'path' }

function fieldAtFault({ kind }: OpenTarget, code: string): string | undefined {
  if (!/^(target|host)_/.test(code)) return undefined
  const fields: Record<string, string> = {
    target_unauthorized: loginOf[kind],
    target_denied: kind === 'sftp' ? 'path' : loginOf[kind],
    target_not_found: kind === 'sftp' ? 'path' : addressOf[kind],
    target_bucket_missing: 'bucket',
    target_host_key: 'hostKey',
    target_key: 'password',
  }
  return fields[code] ?? addressOf[kind]
}

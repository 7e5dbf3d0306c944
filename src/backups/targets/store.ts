import { and, asc, eq } from 'drizzle-orm'
import { findUser } from '../../accounts/store.ts'
import type { Db } from '../../db/index.ts'
import { getRow, listRows } from '../../db/queries.ts'
import { targets } from '../../db/schema.ts'
import { Failure } from '../../platform/errors.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { unsealed } from '../../resources/store.ts'

export type TargetRow = typeof targets.$inferSelect

/** As it is used: its secrets in clear, and the login of a REST server in its URL, as restic has it. */
export type OpenTarget = Omit<TargetRow, 'createdAt'>

export const sealedOfTarget = {
  kind: 'target',
  sealed: ['secretKey', 'key', 'userPassword', 'password'],
} as const

export const getTarget = (db: Db, { id, ownerId }: { id: string; ownerId: string }) =>
  getRow(db, targets, and(eq(targets.id, id), eq(targets.ownerId, ownerId)))

export const listTargets = (db: Db, ownerId: string) =>
  listRows(db, targets, eq(targets.ownerId, ownerId), asc(targets.name))

/** Throws a Failure when its secrets can't be read, or its owner may no longer use its kind. */
export function openTarget(
  { db, secrets }: { db: Db; secrets: Secrets },
  row: TargetRow,
): OpenTarget {
  if (row.kind === 'directory' && findUser(db, row.ownerId).role !== 'admin')
    throw new Failure(
      'target_not_allowed',
      `The target ${row.name} is a directory of this server, which only an admin may use.`,
      'Choose another target.',
    )
  try {
    return withLogin(unsealed(secrets, sealedOfTarget, row))
  } catch (cause) {
    throw new Failure(
      'target_unreadable',
      `The secrets of the target ${row.name} can no longer be read: they were sealed under another key.`,
      'Edit it under Settings, Targets: enter them and the key of its repository again.',
      { cause },
    )
  }
}

export function withLogin<Target extends Pick<TargetRow, 'kind' | 'url' | 'user' | 'userPassword'>>(
  target: Target,
): Target {
  if (target.kind !== 'rest' || !target.user) return target
  const url = new URL(target.url!)
  url.username = encodeURIComponent(target.user)
  url.password = encodeURIComponent(target.userPassword ?? '')
  return { ...target, url: url.href }
}

/** Where it leads to, without secrets. */
export function whereOf({ kind, endpoint, bucket, user, host, url, path }: OpenTarget) {
  const beside = path ? `/${path}` : ''
  return {
    s3: `${endpoint?.replace(/^https?:\/\//, '')}/${bucket}${beside}`,
    sftp: `${user}@${host}:${path}`,
    rest: url,
    directory: path,
  }[kind]
}

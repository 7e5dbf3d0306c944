import type { Config } from '../config.ts'
import type { Tx } from '../db/index.ts'
import { newId } from '../db/new-id.ts'
import { AppError, invalidField, notFound } from '../platform/errors.ts'
import { hashToken, randomCode } from '../platform/secrets.ts'
import type { Secrets } from '../platform/secrets.ts'
import { makeSshKey } from '../platform/ssh-key.ts'
import { claimCode, codeTime, creatorOf, findCode, insertCode } from './code-store.ts'
import type { JoinCode } from './code-store.ts'
import { joinServer, refuseKnown, whyNoServers } from './join.ts'
import type { SwarmDeps } from './swarm.ts'

export type CodeDeps = Omit<SwarmDeps, 'config'> & {
  secrets: Secrets
  config: Pick<Config, 'clusterAddress' | 'url'>
}

type Expected = Pick<JoinCode, 'name' | 'address' | 'roles' | 'labels'>

const sealedFor = (id: string) => `join code ${id}`

/** A server can join by it, once. Only here the code is returned. */
export async function makeCode(deps: CodeDeps, expected: Expected, createdBy: string) {
  const { db, config, secrets, docker } = deps
  const off = whyNoServers(config)
  if (off) throw new AppError('conflict', off)
  refuseKnown(deps, expected, (await docker.swarmState()).hostname)
  const [id, code, key] = [newId(), randomCode(), makeSshKey()]
  const privateKey = secrets.seal(key.privateKey, sealedFor(id))
  const expiresAt = new Date(Date.now() + codeTime)
  const keys = { publicKey: key.publicKey, privateKey }
  const row = { id, codeHash: hashToken(code), createdBy, expiresAt, ...keys, ...expected }
  return { code, row: insertCode(db, row) }
}

/**
 * Throws for an unknown or expired one, one whose admin no longer is, and any but the used one for this
 * member: Davit logs in to it with the key of that.
 */
export function openCode({ db }: Pick<CodeDeps, 'db'>, code: string, member?: string): JoinCode {
  const found = findCode(db, hashToken(code))
  if (!found) throw notFound('code')
  if (found.usedAt && found.name === member) return found
  if (found.usedAt) throw used()
  if (member)
    throw new AppError(
      'conflict',
      `This server has joined as ${member}. To join it again, remove it in Davit and run davit leave here first.`,
    )
  const { role, disabledAt } = creatorOf(db, found)
  if (role !== 'admin' || disabledAt)
    throw new AppError('forbidden', 'Who made this code is no longer an admin. Ask for another.')
  if (found.expiresAt <= new Date())
    throw new AppError('forbidden', 'This code has expired. Make another one in Davit.')
  return found
}

const used = () =>
  new AppError('conflict', 'This code was used. Make another one in Davit for another server.')

/** What a server says of itself. */
type Joined = { address: string; sshPort: number; hostKey: string }

/** The user of Davit’s ssh there. */
const sshUser = 'davit'

/** The code counts as used once the server is stored: a join that failed, or ended with Davit, uses none up. */
export async function joinByCode(
  deps: CodeDeps,
  { code, ...joined }: Joined & { code: JoinCode },
  signal: AbortSignal,
) {
  const { id, name, roles, labels, privateKey } = code
  if (code.address && code.address !== joined.address)
    throw invalidField('address', `must be ${code.address}, for which the code was made.`)
  const sshKey = deps.secrets.open(privateKey, sealedFor(id))
  const joining = { ...joined, name, roles, labels, sshUser, sshKey }
  function stored(tx: Tx) {
    if (!claimCode(tx, id)) throw used()
  }
  return joinServer(deps, joining, { signal, stored })
}

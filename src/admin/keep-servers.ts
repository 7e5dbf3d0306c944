import type { Relocations } from '../apps/relocations.ts'
import { goOnDeleting } from '../deployments/recover.ts'
import type { RecoverDeps } from '../deployments/recover.ts'
import type { keepMoves } from '../moves/keep.ts'
import type { ServerEngines } from '../servers/server-engines.ts'
import { listServers } from '../servers/store.ts'
import { removeDeleted } from '../services/recover.ts'
import { recoverRemovals } from './recover.ts'
import type { RemovalDeps } from './remove-user.ts'

type KeepDeps = RecoverDeps &
  RemovalDeps &
  Parameters<typeof removeDeleted>[0] &
  ConstructorParameters<typeof Relocations>[0] &
  Parameters<typeof keepMoves>[0] & {
    serverEngines: Pick<ServerEngines, 'changes'>
  }

type UntilStopped = { signal: AbortSignal }

/** What there is to do as servers are drained, are lost and come back. Waits for the first other one. */
export async function keepServers(deps: KeepDeps, { signal }: UntilStopped) {
  for await (const _ of deps.serverEngines.changes(signal)) {
    if (listServers(deps.db).length === 0) continue
    const { Relocations } = await import('../apps/relocations.ts')
    const { keepMoves } = await import('../moves/keep.ts')
    const relocations = new Relocations(deps).run({ signal })
    await Promise.all([relocations, keepMoves(deps, { signal }), deleteAtReturns(deps, { signal })])
    return
  }
}

/** Goes on with deletions that gave up because of a server, when that is back or was removed. */
async function deleteAtReturns(deps: KeepDeps, { signal }: UntilStopped) {
  let away: string[] = []
  for await (const _ of deps.serverEngines.changes(signal)) {
    const before = away
    away = listServers(deps.db).flatMap(({ id, state }) => (state === 'away' ? id : []))
    if (before.every((id) => away.includes(id))) continue
    await removeDeleted(deps, { signal })
    await goOnDeleting(deps, { signal })
    await recoverRemovals(deps, { signal })
  }
}

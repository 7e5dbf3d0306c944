import type { MoveDeps } from '../runtime/moves.ts'
import type { Workload } from '../runtime/workload.ts'
import { Failure } from '../platform/errors.ts'
import { counted } from '../web/units.ts'
import { containerIn, recipeIn } from './data.ts'
import type { BackupDeps } from './deps.ts'
import { containersOf } from './hold.ts'
import { differenceOf, inspect, sizeOf } from './recipes/index.ts'
import type { Contents } from './recipes/index.ts'
import { findSubject } from './subject.ts'

type On = { serverId: string; signal: AbortSignal }

/** Counts the databases of a workload on a server, to be compared with how they are after a move. */
export async function countData(
  deps: BackupDeps,
  ...[workload, on]: Parameters<MoveDeps['countData']>
): ReturnType<MoveDeps['countData']> {
  const before = await contentsOn(deps, workload, on)
  return async ({ log, ...on }) => {
    const after = before.length > 0 ? await contentsOn(deps, workload, on) : []
    for (const expected of before) {
      const { component } = expected
      const found = after.find((one) => one.component === component)
      const difference = found ? compare(expected, found) : `${component} isn’t there`
      if (difference !== null) throw differs(difference)
      const [had, has] = [sizeOf(expected.databases), sizeOf(found!.databases)]
      const meanwhile = had.rows === has.rows ? ', as before' : `, in place of ${had.rows}`
      log(
        `${component} has ${counted(has.tables, 'table')} and ${counted(has.rows, 'row')}${meanwhile}`,
      )
    }
  }
}

/** Its rows may change until it stops, so only what it has may not. */
function compare({ databases, ...expected }: Contents, found: Contents) {
  const inexact = databases.map((one) => ({ ...one, isInexact: true }))
  return differenceOf({ ...expected, databases: inexact }, found)
}

async function contentsOn(deps: BackupDeps, workload: Workload, { serverId, signal }: On) {
  const { id, kind, ownerId } = workload
  const of = { kind: kind === 'service' ? ('service' as const) : ('environment' as const), id }
  const subject = findSubject(deps.db, { ...of, ownerId })
  if (!subject) return []
  const { recipe } = await recipeIn(deps, { subject, workload })
  const found = await containersOf(deps, workload, { signal })
  const containers = found.filter((one) => one.serverId === serverId)
  const there = { ...deps, docker: deps.engines.of({ serverId }) }
  const contents: Contents[] = []
  for (const source of recipe.databases) {
    const containerId = containerIn(containers, source.component)
    contents.push(await inspect(there, { source, containerId, ownerId, signal }))
  }
  return contents
}

const differs = (difference: string) =>
  new Failure(
    'move_differs',
    `What was moved isn’t what was there: ${difference}.`,
    'It runs where it was, with all that it had. See its log, then move it again.',
  )

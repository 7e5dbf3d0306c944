import type { OnServer } from '../../docker/index.ts'
import { allEnded } from '../../platform/pause.ts'
import type { Component } from '../component.ts'

type Member = OnServer & { component: Component | null }

/**
 * Does work for containers in order, but for replicas of one component on different servers at the same time. Ends when
 * nothing of it is under way any more, also when it throws: what is undone next must not meet it.
 */
export async function besideEachOther<One extends Member, Result>(
  all: One[],
  work: (one: One) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (const group of groupsOf(all)) results.push(...(await allEnded(group.map(work))))
  return results
}

function* groupsOf<One extends Member>(all: One[]) {
  let group: One[] = []
  for (const one of all) {
    const isBeside = group.every(
      ({ component, serverId }) =>
        component?.name === one.component?.name && serverId !== one.serverId,
    )
    if (!isBeside) {
      yield group
      group = []
    }
    group.push(one)
  }
  yield group
}

import { AppError } from '../../platform/errors.ts'
import type { Dependency, Stack } from './model.ts'

export type Start = { service: string; waits: Dependency[] }

/**
 * Sorts services so that each follows its dependencies, otherwise in the order of the file. Throws `invalid`
 * with the services of a cycle.
 */
export function startOrder({ services }: Pick<Stack, 'services'>): Start[] {
  const order: Start[] = []
  const done = new Set<string>()
  const trail: string[] = []
  for (const name of services.keys()) visit(name)
  return order

  function visit(name: string) {
    const service = services.get(name)
    if (!service || done.has(name)) return
    if (trail.includes(name)) {
      const cycle = [...trail.slice(trail.indexOf(name)), name].join(' → ')
      throw new AppError(
        'invalid',
        `These services wait for each other: ${cycle}. Remove one wait.`,
      )
    }
    trail.push(name)
    // a dependency that isn't required may be absent from the file
    const waits = service.dependsOn.filter((dependency) => services.has(dependency.service))
    for (const { service } of waits) visit(service)
    trail.pop()
    done.add(name)
    order.push({ service: name, waits })
  }
}

import type { Deps } from '../deps.ts'
import type { Container, ContainerSummary } from '../docker/index.ts'
import type { Condition } from './conditions.ts'
import type { Listed } from './find.ts'

/** A container in the list, with all that is known of it without asking for it alone. */
export type Row = Listed & {
  health: Container['health']
  /** Null while it runs, and before it ever did. */
  exitCode: number | null
  /** Null until it was looked at. */
  condition: Condition | null
  looping: boolean
}

export const rowOf = ({ conditions }: Pick<Deps, 'conditions'>, listed: Listed): Row => ({
  ...listed,
  ...readStatus(listed.container.status),
  condition: conditions.of(listed.container.id),
  looping: conditions.isLooping(listed.container.id),
})

/** What the engine's phrase tells: "Up 3 minutes (healthy)", "Exited (137) 2 hours ago". */
function readStatus(status: string): Pick<Row, 'health' | 'exitCode'> {
  const health = /\((?:health: )?(starting|healthy|unhealthy)\)/.exec(status)?.[1] ?? null
  const exitCode = /^Exited \((\d+)\)/.exec(status)?.[1]
  return { health: health as Row['health'], exitCode: exitCode ? Number(exitCode) : null }
}

export const isUp = ({ state }: Pick<ContainerSummary, 'state'>) =>
  state === 'running' || state === 'paused' || state === 'restarting'

export const containerPath = ({ id }: { id: string }) => `/containers/${id}`

import type { Edge } from '../edge/edge.ts'
import type { EdgeState } from '../edge/other-edges.ts'
import type { Failure } from '../platform/errors.ts'
import { firstServer } from '../platform/root.ts'
import { Fact } from '../web/components.tsx'
import { Badge } from '../web/status-badge.tsx'
import type { Look } from '../web/status-badge.tsx'

export const edgeStates = [
  'off',
  'starting',
  'serving',
  'outdated',
  'leaving',
] as const satisfies EdgeState[]

export type ServerEdge = { state: EdgeState; trouble: Failure | null }

/** What is known of the edge of a server. */
export function edgeOn(
  edge: Pick<Edge, 'isOn' | 'others' | 'trouble'>,
  serverId: string,
): ServerEdge {
  if (serverId !== firstServer) return edge.others?.stateOf(serverId) ?? none
  const { isOn, trouble } = edge
  return isOn ? { state: trouble ? 'outdated' : 'serving', trouble } : none
}

const none: ServerEdge = { state: 'off', trouble: null }

const looks: Record<Exclude<EdgeState, 'off'>, Look> = {
  starting: { word: 'Starting', tone: 'active', icon: 'loader-circle' },
  serving: { word: 'Serving', tone: 'good', icon: 'check' },
  outdated: { word: 'Not up to date', tone: 'bad', icon: 'triangle-alert' },
  leaving: { word: 'Visitors leave it', tone: 'quiet', icon: 'minus' },
}

export const EdgeFact = ({ state }: Pick<ServerEdge, 'state'>) =>
  state === 'off' ? null : (
    <Fact name="Edge">
      <Badge {...looks[state]} />
    </Fact>
  )

/** Why an edge doesn't have what is new. */
export const EdgeNote = ({ trouble }: Pick<ServerEdge, 'trouble'>) =>
  trouble && (
    <p class="note pending" role="status">
      Davit can’t keep its edge up to date: {trouble.message} {trouble.hint}
    </p>
  )

import type { DiskSpace } from '../platform/disk-space.ts'
import { Fact } from '../web/components.tsx'
import { Badge } from '../web/status-badge.tsx'
import type { Look } from '../web/status-badge.tsx'
import { Ago } from '../web/times.tsx'
import { bytes, counted, percent } from '../web/units.ts'
import { Used } from '../web/used.tsx'
import { EdgeFact } from './server-edge.tsx'
import type { ServerEdge } from './server-edge.tsx'
import type { Server } from './store.ts'

/** What its apps and services use: per cent of one processor, and bytes. */
export type ServerUse = { cpu: number; memory: number }

const looks: Record<Server['state'], Look> = {
  ready: { word: 'Ready', tone: 'good', icon: 'check' },
  draining: { word: 'Draining', tone: 'quiet', icon: 'minus' },
  away: { word: 'Away', tone: 'bad', icon: 'triangle-alert' },
}

export const StateBadge = ({ state }: Pick<Server, 'state'>) => <Badge {...looks[state]} />

type Props = {
  server: Pick<Server, 'state' | 'lastSeenAt' | 'cpus' | 'memoryMb' | 'engine'> & {
    name?: string
    /** Of its page, for those who may open it. */
    href?: string | undefined
  }
  use: ServerUse
  disk: DiskSpace | null
  /** Left out where there is no room for it. */
  edge?: ServerEdge
}

/** What a server has and uses. Of one that is away only the former is known. */
export const ServerFacts = ({ server, use, disk, edge }: Props) => {
  const { state, lastSeenAt, cpus, memoryMb, engine, name, href } = server
  const memory = memoryMb * 2 ** 20
  const cores = counted(cpus, 'core')
  const isAway = state === 'away'
  const said = name && <bdi>{name}</bdi>
  return (
    <dl class="server-strip">
      <Fact name={href ? <a href={href}>{said}</a> : (said ?? 'State')}>
        <StateBadge state={state} />
        {lastSeenAt && (
          <>
            {' '}
            since <Ago at={lastSeenAt} />
          </>
        )}
      </Fact>
      <Fact name="Processor">
        {isAway ? (
          cores
        ) : (
          <Used share={use.cpu / 100 / cpus} label="Processor usage of apps and services">
            {percent(use.cpu / cpus)} of {cores}
          </Used>
        )}
      </Fact>
      <Fact name="Memory">
        {isAway ? (
          bytes(memory)
        ) : (
          <Used share={use.memory / memory} label="Memory of apps and services">
            {bytes(use.memory)} of {bytes(memory)}
          </Used>
        )}
      </Fact>
      <Fact name="Disk">
        {disk ? (
          <Used share={disk.used / 100} label="Used disk">
            {bytes(disk.size - disk.free)} of {bytes(disk.size)}
          </Used>
        ) : (
          'unknown'
        )}
      </Fact>
      <Fact name="Docker">{engine}</Fact>
      {edge && <EdgeFact {...edge} />}
    </dl>
  )
}

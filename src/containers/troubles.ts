import type { Db, Tx } from '../db/index.ts'
import type { Container, EngineEvent } from '../docker/index.ts'
import { readLabels } from '../docker/labels.ts'
import { web } from '../environments/processes.ts'
import { emit } from '../notifications/emit.ts'
import type { NewEvent } from '../notifications/emit.ts'
import { listOpenOf } from '../notifications/store.ts'
import {
  crashLoop,
  outOfMemory,
  troubleEnded,
  troubles,
  unhealthy,
} from '../notifications/texts.ts'
import type { ObservedContainers } from '../runtime/observed-containers.ts'
import { isWanted, listLiveInstances } from '../runtime/store.ts'
import { eventPlace, placeContainers } from './place.ts'

type TroubleDeps = { db: Db; instanceId: string; observed: ObservedContainers }

/** Reports a container of an app or service that crashes again and again, is unhealthy or out of memory. */
export function noteTrouble(deps: TroubleDeps, { id, action, attributes: labels }: EngineEvent) {
  const isLooping = action === 'start' && deps.observed.isLooping(id)
  if (!isLooping && action !== 'oom' && action !== 'health_status: unhealthy') return
  tell(deps, { id, labels }, ({ isApp, ...of }) => {
    const { crashes } = deps.observed
    if (action === 'oom') return [outOfMemory(of)]
    if (!isLooping) return [unhealthy(of)]
    const exitCode = crashes.lastEndOf(id)?.exitCode ?? null
    return [crashLoop({ ...of, isApp, exitCode, restarts: crashes.restartsOf(id) })]
  })
}

/** Reports what is over, and of a container that became unhealthy while Davit was down. */
export function noteInspected(deps: TroubleDeps, { id, labels, state, health }: Container) {
  if (state !== 'running' || deps.observed.isLooping(id)) return
  const isSick = health === 'unhealthy'
  const told = (of: Named, open: Trouble[]) => [
    ...(isSick && !open.includes('unhealthy') ? [unhealthy(of)] : []),
    ...open.flatMap((kind) =>
      kind === 'unhealthy' && (isSick || health === 'starting') ? [] : [troubleEnded(kind, of)],
    ),
  ]
  tell(deps, { id, labels }, told, { onlyEnds: !isSick })
}

/** Call it when a workload got new containers: what was wrong with the old ones is over. */
export function endTroubles(tx: Tx, workloadId: string, about: Omit<NewEvent, keyof TroubleNews>) {
  for (const { kind, of } of listOpenOf(tx, prefixesOf(workloadId)))
    emit(tx, { ...about, ...troubleEnded(kind as Trouble, about), of })
}

type Trouble = (typeof troubles)[number]
type TroubleNews = ReturnType<typeof unhealthy>
type Named = { subject: string; process: string | null; isApp: boolean }

const prefixesOf = (key: string) => troubles.map((kind) => `${kind} ${key}`)

/** Only of the containers that people reach: those of a deployment that fails are its own matter. */
function tell(
  { db, instanceId }: TroubleDeps,
  { id, labels }: { id: string; labels: Record<string, string> },
  told: (of: Named, open: Trouble[]) => TroubleNews[],
  /** True when nothing is told unless something was wrong. */
  { onlyEnds = false } = {},
) {
  const said = readLabels(labels)
  const workloadId = said.environmentId || said.serviceId
  if (said.instanceId !== instanceId || !workloadId) return
  const instance = listLiveInstances(db, workloadId).find((one) => one.containerId === id)
  if (!instance || !isWanted(instance)) return
  const key = `${workloadId} ${instance.component} ${instance.slot}`
  const open = listOpenOf(db, prefixesOf(key)).map(({ kind }) => kind as Trouble)
  if (onlyEnds && open.length === 0) return // as after most inspections
  const place = placeContainers({ db, instanceId }, [{ id, labels }])({ id, labels })
  const about = place.kind === 'own' && eventPlace(place)
  if (!about) return
  const { subject } = about
  const isApp = about.environmentId !== null
  const process = instance.component === web ? null : instance.component || null
  db.transaction((tx) => {
    for (const one of told({ subject, process, isApp }, open))
      emit(tx, { ...about, ...one, of: `${one.kind} ${key}` })
  })
}

import { and, desc, eq, gte, inArray, lt, min, ne, or, sql } from 'drizzle-orm'
import type { Db, LogDb } from '../db/index.ts'
import { trafficSeries } from '../db/log-schema.ts'
import { hasRow, preparedOnce } from '../db/queries.ts'
import { instances } from '../db/schema.ts'
import type { Container } from '../docker/index.ts'
import { partLabel } from '../docker/labels.ts'
import { nameOf } from '../servers/store.ts'
import type { Cursor } from './cursor-store.ts'
import type { Line, Origin } from './log-line.tsx'

/** The format of a name in a block. Labels are untrusted. */
const isName = /^[\w.-]{1,255}$/

/** Maximum of containers from before a log's start that may have written its first lines. */
const mostBefore = 20

/**
 * The process that a container runs, and of which deployment: by the database, else by its labels. A later one
 * than they say may have started it again.
 */
export function originOf(
  db: Db,
  {
    containerId,
    deploymentId,
    serverId,
  }: Pick<Cursor, 'containerId' | 'deploymentId' | 'serverId'>,
  labels: Container['labels'],
): Omit<Origin, 'container'> {
  const known = preparedInstance(db).get({ containerId })
  const process = known?.component ?? labels[partLabel] ?? ''
  const replica = known && hasReplicas(db, known) ? known.slot + 1 : null
  return {
    server: nameOf(db, serverId),
    deploymentId: deploymentId && (known?.releaseId ?? deploymentId), // a service has none
    ...(isName.test(process) ? { process, replica } : { process: '', replica: null }),
  }
}

const preparedInstance = preparedOnce((db: Db) =>
  db
    .select()
    .from(instances)
    .where(eq(instances.containerId, sql.placeholder('containerId')))
    .prepare(),
)

const preparedReplica = preparedOnce((db: Db) =>
  db
    .select({ one: sql`1` })
    .from(instances)
    .where(
      and(
        eq(instances.releaseId, sql.placeholder('releaseId')),
        eq(instances.component, sql.placeholder('component')),
        ne(instances.slot, 0),
      ),
    )
    .limit(1)
    .prepare(),
)

const hasReplicas = (db: Db, { releaseId, component }: typeof instances.$inferSelect) =>
  preparedReplica(db).get({ releaseId, component }) !== undefined

/** True when requests for an environment or service were counted. These have lines like a process. */
export const hasRequests = (logDb: LogDb, sourceId: string) =>
  hasRow(logDb, trafficSeries, eq(trafficSeries.sourceId, sourceId))

/**
 * Lists the processes whose lines may be in a log since that time, each with its maximum of containers. In
 * the order of their first runs, so that each keeps its place and colour. Includes the processes of the given
 * lines.
 */
export function listProcesses(
  db: Db,
  { sourceId, since, lines }: { sourceId: string; since: number | null; lines: Line[] },
): ProcessCount[] {
  const { id, component, slot, state, createdAt } = instances
  const isOfSource = and(eq(instances.workloadId, sourceId), ne(state, 'once'))
  const begin = new Date(since ?? 0)
  const before = db
    .select({ id })
    .from(instances)
    .where(and(isOfSource, lt(createdAt, begin)))
    .orderBy(desc(id))
    .limit(mostBefore)
  const mayHaveLines = or(ne(state, 'removed'), gte(createdAt, begin), inArray(id, before))
  const found = db
    .select({ process: component, replicas: sql<number>`max(${slot}) + 1` })
    .from(instances)
    .where(and(isOfSource, mayHaveLines))
    .groupBy(component)
    .orderBy(min(instances.id))
    .all()
  const counts = new Map(found.map(({ process, replicas }) => [process, replicas]))
  for (const { process, replica } of lines)
    if (process) counts.set(process, Math.max(counts.get(process) ?? 1, replica ?? 1))
  return [...counts].map(([process, replicas]) => ({ process, replicas }))
}

export type ProcessCount = { process: string; replicas: number }

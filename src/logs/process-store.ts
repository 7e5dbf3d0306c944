import { and, desc, eq, gte, inArray, lt, min, ne, or, sql } from 'drizzle-orm'
import type { Db, LogDb } from '../db/index.ts'
import { trafficSeries } from '../db/log-schema.ts'
import { instances } from '../db/schema.ts'
import type { Container } from '../docker/index.ts'
import { partLabel } from '../docker/labels.ts'
import type { Line, Process } from './log-line.tsx'

/** What a name may look like in a block: a label can be anyone's. */
const isName = /^[\w.-]{1,255}$/

/** Containers from before a log begins that may have written its first lines: when they ended isn't stored. */
const mostBefore = 20

/** Which process a container runs: as the database has it, else as its labels say. */
export function processOf(db: Db, { id, labels }: Pick<Container, 'id' | 'labels'>): Process {
  const known = db.select().from(instances).where(eq(instances.containerId, id)).get()
  const process = known?.component ?? labels[partLabel] ?? ''
  if (!isName.test(process)) return { process: '', replica: null }
  return { process, replica: known && hasReplicas(db, known) ? known.slot + 1 : null }
}

const hasReplicas = (db: Db, { releaseId, component }: typeof instances.$inferSelect) =>
  db
    .select({ id: instances.id })
    .from(instances)
    .where(
      and(
        eq(instances.releaseId, releaseId),
        eq(instances.component, component),
        ne(instances.slot, 0),
      ),
    )
    .limit(1)
    .get() !== undefined

/** Whether requests for an environment or service were counted, which have lines among the processes'. */
export const hasRequests = (logDb: LogDb, sourceId: string) =>
  logDb
    .select({ id: trafficSeries.id })
    .from(trafficSeries)
    .where(eq(trafficSeries.sourceId, sourceId))
    .limit(1)
    .get() !== undefined

/**
 * The processes of an environment or service whose lines may be in a log that begins then, with how many
 * containers each had at most: in the order in which they first ran, so that each keeps its place and
 * colour. Those of the given lines are among them.
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

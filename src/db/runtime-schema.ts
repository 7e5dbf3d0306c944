import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { childOf, createdAt, flag, id } from './columns.ts'
import { environments } from './schema.ts'
import { services } from './service-schema.ts'

/** What has volumes and runs: an environment or a service, whose id it has. */
export const workloads = sqliteTable('workloads', {
  id: text().primaryKey(),
  /** One of the two: the id again, so that the row is deleted with it. */
  environmentId: text().references(() => environments.id, { onDelete: 'cascade' }),
  serviceId: text().references(() => services.id, { onDelete: 'cascade' }),
  /** The live release, also while it is stopped. */
  liveReleaseId: text(),
  /** The release that is being rolled out; one that was interrupted is undone by the next process. */
  nextReleaseId: text(),
})

const workload = () => childOf(() => workloads.id)

/** What a workload runs. */
export const releases = sqliteTable(
  'releases',
  {
    /** Of an environment: that of the deployment. */
    id: id(),
    workloadId: workload(),
    /** Sealed JSON; null once it was replaced, and for one made by an earlier version. */
    components: text(),
    /** Sealed JSON: the settings of the environment that it was made from; null where they aren't known. */
    settings: text(),
    /** Whether the edge serves its environment's port; else Docker publishes it. */
    edge: flag().notNull().default(false),
    createdAt: createdAt(),
  },
  (t) => [index('releases_by_workload').on(t.workloadId, t.id)],
)

export const instanceStates = [
  'creating',
  'starting',
  'live',
  'unhealthy',
  'stopped',
  'once',
  'draining',
  'removed',
] as const

/** Containers of releases, and those that run once from the image of one. A row outlives its container. */
export const instances = sqliteTable(
  'instances',
  {
    id: id(),
    releaseId: childOf(() => releases.id),
    workloadId: workload(),
    component: text().notNull(),
    /** Which of the component's replicas it is, from 0. */
    slot: integer().notNull().default(0),
    /** Null before the engine has created it. */
    containerId: text().unique(),
    /** The port that it listens on in its container, to which its addresses lead; null: none is known. */
    port: integer(),
    /**
     * `live` is one that should run, `unhealthy` one that should too and isn't well, or is about to start
     * again, so that no address leads to it, `stopped` one of the live release that was stopped or ended,
     * `draining` one that was replaced and is to be removed, `once` one that runs to its end beside the
     * release: it has the id of its job, and its row is deleted with its container.
     */
    state: text({ enum: instanceStates }).notNull().default('creating'),
    createdAt: createdAt(),
  },
  (t) => [
    index('instances_by_workload').on(t.workloadId, t.state),
    index('instances_by_release').on(t.releaseId),
    index('instances_by_state').on(t.state),
  ],
)

/** Addresses of containers on networks, each reserved until the container is removed. */
export const endpoints = sqliteTable(
  'endpoints',
  {
    id: id(),
    instanceId: childOf(() => instances.id),
    network: text().notNull(),
    /** IPv4; null where the engine chooses one, or another has taken it over. */
    address: text(),
    held: flag().notNull().default(true),
  },
  (t) => [
    uniqueIndex('one_endpoint_per_network').on(t.instanceId, t.network),
    uniqueIndex('one_holder_per_address')
      .on(t.network, t.address)
      .where(sql`address IS NOT NULL AND held = 1`),
    index('endpoints_by_network').on(t.network, t.id),
  ],
)

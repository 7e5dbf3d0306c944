import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { childOf, createdAt, flag, id } from './columns.ts'
import { environments } from './project-schema.ts'
import { services } from './service-schema.ts'
import type { StoredMove } from './stored-move.ts'
import { firstServer } from '../platform/root.ts'

/** An environment or a service, with the same id: it has volumes and runs containers. */
export const workloads = sqliteTable('workloads', {
  id: text().primaryKey(),
  /** One of the two repeats the id, so that the row is deleted with it. */
  environmentId: text().references(() => environments.id, { onDelete: 'cascade' }),
  serviceId: text().references(() => services.id, { onDelete: 'cascade' }),
  /** The server that its volumes are on, where it runs; null before it has any. */
  pinnedTo: text(),
  move: text({ mode: 'json' }).$type<StoredMove>(),
  /** The live release, also while it is stopped. */
  liveReleaseId: text(),
  /** The release that is being rolled out. The next process undoes an interrupted one. */
  nextReleaseId: text(),
})

const workload = () => childOf(() => workloads.id)

export const releases = sqliteTable(
  'releases',
  {
    /** For an environment the id of the deployment. */
    id: id(),
    workloadId: workload(),
    /** Sealed JSON; null once it was replaced, and if a restore found it. */
    components: text(),
    /** Sealed JSON of the environment's settings that it was created from; null when unknown. */
    settings: text(),
    /** True when the edge publishes its environment's port, otherwise Docker does. */
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
  'standby',
  'draining',
  'removed',
] as const

/** Containers of releases, and one-off ones from a release's image. A row outlives its container. */
export const instances = sqliteTable(
  'instances',
  {
    id: id(),
    releaseId: childOf(() => releases.id),
    workloadId: workload(),
    component: text().notNull(),
    /** Numbers the component's replicas from 0. */
    slot: integer().notNull().default(0),
    /** Where its container is, or will be. */
    serverId: text().notNull().default(firstServer),
    /** Null before the engine has created it. */
    containerId: text().unique(),
    /** The port it listens on in its container, which its addresses route to; null when unknown. */
    port: integer(),
    /**
     * `live` should run. `unhealthy` should run too, but isn't healthy or is about to start again, so that no
     * address routes to it. `stopped` belongs to the live release and was stopped or ended. `standby` belongs
     * to the release before: it runs while the live one is watched, and is then kept stopped for a rollback.
     * `draining` was replaced and will be removed. `once` runs to its end beside the release: it has the id of
     * its job, and its row is deleted with its container.
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

/** What a deployment of a Compose file runs; deployments that reuse its images share it. */
export const stacks = sqliteTable('stacks', {
  /** As in the deployments: that of the service with the addresses. */
  image: text().primaryKey(),
  /** The path of the Compose file. */
  file: text().notNull(),
  /** It and the files that it names, by path from the repository's root. */
  texts: text({ mode: 'json' }).$type<Record<string, string>>().notNull(),
  services: text({ mode: 'json' }).$type<Record<string, StackImage>>().notNull(),
})

export type StackImage = {
  image: string
  /** The same as long as nothing that the image is made from has changed. */
  key: string
  /** As in the file; null for an image that was built. */
  reference: string | null
}

/** Addresses of containers on networks, each reserved until the container is removed. */
export const endpoints = sqliteTable(
  'endpoints',
  {
    id: id(),
    instanceId: childOf(() => instances.id),
    network: text().notNull(),
    /** IPv4; null when the engine chooses one, or another container has taken it over. */
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

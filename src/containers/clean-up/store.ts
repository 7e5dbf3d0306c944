import type { Database } from 'bun:sqlite'
import { and, desc, eq, inArray, isNotNull, notInArray } from 'drizzle-orm'
import type { Db } from '../../db/index.ts'
import type { DiskUse, Docker, Engines, Network } from '../../docker/index.ts'
import { areDavits, readLabels } from '../../docker/labels.ts'
import type { Collector } from '../../logs/collector.ts'
import { firstServer } from '../../platform/root.ts'
import { serverNames } from '../../runtime/on-engine.ts'
import type { ServerList } from '../../runtime/on-engine.ts'
import type { OtherServer } from './kinds.ts'
import { listRows, listValues } from '../../db/queries.ts'
import { deployments, environments, instances, projects, services, users } from '../../db/schema.ts'

export type PruneDeps = {
  db: Db
  /** Of the server that is cleaned up: Davit’s own at first. */
  docker: Docker
  serverList: ServerList
  engines: Engines
  collector: Collector
  instanceId: string
}

/** Everything that decides what may be removed. */
export type Facts = DiskUse & {
  /** Undefined for Davit’s own. */
  server?: OtherServer | undefined
  instanceId: string
  networks: Network[]
  needs: Needs
  /** Container ids by deployment, for the deployments that the containers' labels name. */
  deployed: Map<string, Set<string>>
}

export async function gatherFacts(
  { db, docker, instanceId, serverList }: Omit<PruneDeps, 'collector' | 'engines'>,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<Facts> {
  const [use, networks] = await Promise.all([
    docker.diskUse({ signal }),
    docker.listNetworks({ signal }),
  ])
  const named = use.containers.flatMap(({ labels }) => readLabels(labels).deploymentId || [])
  return {
    ...use,
    server: otherServer({ serverList }, docker),
    instanceId,
    networks,
    needs: readNeeds(db),
    deployed: listDeployed(db, [...new Set(named)]),
  }
}

export function otherServer(
  { serverList }: Pick<PruneDeps, 'serverList'>,
  { serverId }: Pick<Docker, 'serverId'>,
): OtherServer | undefined {
  if (serverId === firstServer) return undefined
  return { id: serverId, name: serverNames({ serverList }).get(serverId) ?? serverId }
}

type Labels = Record<string, string>

export const isOurs = ({ instanceId }: Facts, labels: Labels) =>
  readLabels(labels).instanceId === instanceId

/** True for what another installation of Davit on this engine created and manages. */
export const isAnotherDavits = (facts: Facts, labels: Labels) =>
  areDavits(labels) && !isOurs(facts, labels)

export type Needs = {
  /** Names by id. */
  projects: Map<string, string>
  environments: Map<string, NeededEnvironment>
  services: Map<string, string>
  /** The ids of queued or running deployments. */
  inWork: Set<string>
  /** The reason why an image must be kept, by its reference. */
  images: Map<string, string>
}

type NeededEnvironment = {
  /** The project's name and its own. */
  name: string
  /** Containers of its processes and commands, including stopped ones. */
  containerIds: Set<string>
  /** Those of the version before, which a rollback starts again. */
  keptIds: Set<string>
  busy: boolean
}

const alive = ['pending', 'cloning', 'building', 'deploying', 'running', 'stopped'] as const

export function readNeeds(db: Db): Needs {
  const needs: Needs = {
    projects: namesById(db.select({ id: projects.id, name: projects.name }).from(projects).all()),
    environments: readEnvironments(db),
    services: namesById(db.select({ id: services.id, name: services.name }).from(services).all()),
    inWork: new Set(),
    images: new Map(),
  }
  keepForRollback(db, needs)
  const isThere = and(
    isNotNull(instances.containerId),
    notInArray(instances.state, ['draining', 'removed']),
  )
  for (const { workloadId, containerId, state } of listRows(db, instances, isThere)) {
    const environment = needs.environments.get(workloadId)
    environment?.[state === 'standby' ? 'keptIds' : 'containerIds'].add(containerId!)
  }
  const living = db
    .select({
      id: deployments.id,
      environmentId: deployments.environmentId,
      status: deployments.status,
      image: deployments.image,
    })
    .from(deployments)
    .where(inArray(deployments.status, alive))
    .all()
  for (const { id, environmentId, status, image } of living) {
    const environment = needs.environments.get(environmentId)!
    const isServing = status === 'running' || status === 'stopped'
    const { name } = environment
    if (image)
      needs.images.set(
        image,
        isServing ? `${name} is running it` : `a deployment to ${name} is using it`,
      )
    if (isServing) continue
    environment.busy = true
    needs.inWork.add(id)
  }
  return needs
}

const namesById = (rows: { id: string; name: string }[]) =>
  new Map(rows.map(({ id, name }) => [id, name]))

const readEnvironments = (db: Db) =>
  new Map(
    db
      .select({ id: environments.id, name: environments.name, project: projects.name })
      .from(environments)
      .innerJoin(projects, eq(projects.id, environments.projectId))
      .all()
      .map(({ id, name, project }): [string, NeededEnvironment] => [
        id,
        {
          name: `${project} ${name}`,
          containerIds: new Set(),
          keptIds: new Set(),
          busy: false,
        },
      ]),
  )

/** Keeps each environment's newest images, as many as its project's setting says. */
function keepForRollback(db: Db, { images, environments: known }: Needs) {
  const built = db
    .select({
      environmentId: deployments.environmentId,
      image: deployments.image,
      keepImages: projects.keepImages,
    })
    .from(deployments)
    .innerJoin(projects, eq(projects.id, deployments.projectId))
    .where(isNotNull(deployments.image))
    .orderBy(desc(deployments.id))
    .all()
  const kept = new Map<string, Set<string>>()
  for (const { environmentId, image, keepImages } of built) {
    const ofThis = kept.getOrInsertComputed(environmentId, () => new Set())
    if (ofThis.size >= keepImages || ofThis.has(image!)) continue
    ofThis.add(image!)
    images.set(image!, `${known.get(environmentId)?.name} can be rolled back to it`)
  }
}

function listDeployed(db: Db, ids: string[]) {
  const known = listValues(db, deployments.id, inArray(deployments.id, ids))
  const containers = new Map(known.map((id) => [id, new Set<string>()]))
  const rows = listRows(db, instances, inArray(instances.releaseId, [...containers.keys()]))
  for (const { releaseId, containerId } of rows)
    if (containerId) containers.get(releaseId)!.add(containerId)
  return containers
}

export type Opened = { $client: Pick<Database, 'query'> }

/** Counts pages, so that space in the write-ahead log isn't included. */
export function databaseBytes({ $client }: Opened) {
  const read = (name: 'page_count' | 'page_size') =>
    $client.query<Record<string, number>, []>(`PRAGMA ${name}`).get()![name]!
  return read('page_count') * read('page_size')
}

export const ownersOf = (db: Db) =>
  new Map(
    [projects, services].flatMap((table) =>
      db
        .select({ id: table.id, email: users.email })
        .from(table)
        .innerJoin(users, eq(users.id, table.ownerId))
        .all()
        .map(({ id, email }) => [id, email] as const),
    ),
  )

import type { Container } from '../docker/index.ts'
import { labelFilter, partLabel } from '../docker/labels.ts'
import { firstServer } from '../platform/root.ts'
import { openComponents, volumesIn } from '../runtime/component.ts'
import { getLiveRelease } from '../runtime/store.ts'
import type { Workload, WorkloadKey } from '../runtime/workload.ts'
import { definitionOf } from '../services/stored-definition.ts'
import type { BackupDeps } from './deps.ts'
import { containersOf } from './hold.ts'
import { dump, recipeOf, renamedImages, toolsOf } from './recipes/index.ts'
import type { EachFile, Folders } from './recipes/index.ts'
import type { Subject } from './subject.ts'

type DataOwner = { subject: Subject; workload: Workload }
type Dumping = { used: AsyncDisposableStack; signal: AbortSignal }

/** What a workload has to be backed up. */
export async function dataOf(
  deps: BackupDeps,
  { subject, workload }: DataOwner,
  { signal }: { signal: AbortSignal },
) {
  const { ownerId } = workload
  const there = whereDataIs(deps, workload)
  const { components, recipe, knowing } = await recipeIn(deps, { subject, workload })
  const containers = await containersOf(deps, workload, { signal })
  const mounted = volumesIn(components)
  // those of an earlier version, as long as they exist: an update may have renamed one
  const all = await volumesThere(deps, workload)
  const earlier = all.filter((name) => !mounted.includes(name))
  return {
    /** Each is dumped by its own tool. */
    databases: recipe.databases.map((source) => ({
      component: source.component,
      async dump(each: EachFile, { used, signal }: Dumping) {
        const containerId = containerIn(containers, source.component)
        const tools = toolsOf(there, { source, containerId, ownerId })
        try {
          const how = { source, containerId, ownerId, tools, each, signal }
          const { folders, ...contents } = await dump(there, how)
          return { contents, folders }
        } finally {
          const ending = tools[Symbol.asyncDispose]() // while what follows goes on
          used.defer(() => ending)
        }
      },
    })),
    /** By the folders that its servers say to keep files of their own in, of which a dump asks them. */
    volumesWith(folders: Folders) {
      const { volumes, dumped } = knowing(folders)
      return {
        /** The engine's names of those that no dump stands for. */
        volumes: [...volumes, ...earlier].sort(),
        /** Those that one stands for. */
        dumped,
      }
    },
    unsaved: recipe.unsaved,
  }
}

/** With Docker of the server that a workload’s volumes are on, whatever became of others. Throws while it is away. */
export function whereDataIs<Deps extends Pick<BackupDeps, 'engines' | 'serverList'>>(
  deps: Deps,
  { id }: Pick<WorkloadKey, 'id'>,
) {
  const serverId = deps.serverList.pinnedTo(id) ?? firstServer
  return { ...deps, docker: deps.engines.of({ serverId }) }
}

export async function volumesThere(deps: BackupDeps, { kind, id }: WorkloadKey) {
  const of = kind === 'service' ? { serviceId: id } : { environmentId: id }
  const { docker, instanceId } = whereDataIs(deps, { id })
  const found = await docker.listVolumes({ labels: labelFilter(instanceId, of) })
  return found.map(({ name }) => name)
}

/** How the live version of a workload is backed up. */
export async function recipeIn(deps: BackupDeps, { subject, workload }: DataOwner) {
  const { id } = workload
  const components = openComponents(deps.secrets, getLiveRelease(deps.db, id)) ?? []
  const images = renamedImages(deps.db, components)
  const backup = await declaredIn(deps, subject)
  const knowing = (folders: Folders) => recipeOf({ id, components, images, backup, folders })
  return { components, recipe: knowing(new Map()), knowing }
}

/** The one that runs, beside which may be one that has ended. */
export function containerIn(containers: Container[], component: string) {
  const own = containers.filter(({ labels }) => labels[partLabel] === component)
  return (own.find(({ state }) => state === 'running') ?? own[0])?.id ?? component
}

/** What the template of a service says; null for what is recognised by its images. */
const declaredIn = async (deps: BackupDeps, subject: Subject) =>
  subject.kind === 'service' ? (await definitionOf(deps, subject.service)).file.backup : null

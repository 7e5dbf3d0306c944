import { basename, dirname } from 'node:path'
import type { BuildContainer } from './buildkit-containers.ts'
import type { BuildCaps } from './build-caps.ts'
import type { Abortable, Engine } from './engine.ts'
import { containersFolder, watchBuildContainers, whyUnseen } from './buildkit-containers.ts'
import { findControlGroups, findGroup, isGroup, limitGroup, makeGroup } from './control-groups.ts'
import type { ControlGroups } from './control-groups.ts'
import { buildsWithBuildKit, engineMachine } from './info.ts'
import type { Builder } from './info.ts'

/** Limits the containers of a build until it is disposed of. */
export type BuildKitCaps = Disposable & {
  /** Why the caps aren't enforced; null while they are. */
  readonly failure: string | null
}

/** Why caps can't be enforced on this engine; null when they can. */
export async function whyUncapped(
  engine: Engine,
  { builder, signal }: Abortable & { builder: Builder },
): Promise<string | null> {
  if (!(await buildsWithBuildKit(engine, { builder, signal }))) return null
  const found = await findMeans(engine, { signal })
  return typeof found === 'string' ? found : null
}

/**
 * Enforces the caps on BuildKit's containers. The engine has no option for it and ignores those of the
 * classic builder, but it records the control group of each container before starting it.
 */
export async function capBuildKit(
  engine: Engine,
  caps: BuildCaps,
  options: Abortable = {},
): Promise<BuildKitCaps> {
  const means = await findMeans(engine, options)
  if (typeof means === 'string') return failed(means)
  let failure: string | null = null
  const refused = ({ code }: NodeJS.ErrnoException) => {
    failure ??= `the kernel refuses the limits (${code})`
  }
  try {
    const watcher = watchBuildContainers(means.folder, {
      onContainer: (container) =>
        capContainer(means.groups, container, caps).catch(async (error) => {
          if (await container.lives()) refused(error)
        }),
      onError: refused,
    })
    return {
      get failure() {
        return failure
      },
      [Symbol.dispose]: () => watcher[Symbol.dispose](),
    }
  } catch (error) {
    refused(error as NodeJS.ErrnoException)
    return failed(failure!)
  }
}

const failed = (failure: string): BuildKitCaps => ({ failure, [Symbol.dispose]() {} })

async function findMeans(engine: Engine, { signal }: Abortable) {
  if (engine.address.kind !== 'socket') return 'Docker is on another machine'
  const machine = await engineMachine(engine, { signal })
  if (machine.rootless) return 'Docker runs rootless'
  const folder = containersFolder(machine.folder)
  const unseen = await whyUnseen(folder)
  if (unseen) return unseen
  const groups = await findControlGroups()
  if (!groups) return 'Davit can’t write to the control groups for memory and processors'
  return { folder, groups }
}

/**
 * All builds together are limited by the group that their containers share: it persists, and so applies from
 * a container's first moment. One build of several is limited by its containers' own groups, as is a build
 * whose containers share none: below systemd's groups they have no common parent.
 */
export async function capContainer(
  groups: ControlGroups,
  container: BuildContainer,
  caps: BuildCaps,
) {
  const { memoryBytes, cpus, builds } = caps
  const shared = sharedGroup(container.group)
  const all = { memoryBytes: memoryBytes * builds, cpus: cpus * builds }
  if (shared) {
    await makeGroup(groups, shared)
    await limitGroup(groups, shared, all)
    if (builds === 1) return
  }
  const name = basename(container.group)
  while (await container.lives()) {
    const path = shared ? container.group : await findGroup(groups.memory, name)
    if (path && isGroup(groups, path)) return limitGroup(groups, path, caps)
    await Bun.sleep(5)
  }
}

const sharedGroup = (group: string) =>
  group.startsWith('/') && basename(dirname(group)) === 'buildkit' ? dirname(group) : null

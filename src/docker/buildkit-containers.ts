import { watch } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** A container in which BuildKit runs a step. */
export type BuildContainer = {
  /** The control group that BuildKit requests for it: a path from the root, or a name. */
  group: string
  /** Resolves to false when the step has ended. */
  lives: () => Promise<boolean>
}

/** Contains a folder for each container while it exists. */
export const containersFolder = (engineFolder: string) => join(engineFolder, 'buildkit', 'executor')

/** Why the containers can't be observed; null when they can. */
export const whyUnseen = (folder: string): Promise<string | null> =>
  readdir(folder).then(
    () => null,
    ({ code }) =>
      code === 'ENOENT'
        ? 'Davit can’t see the folder in which Docker keeps its builds'
        : 'Davit isn’t root and doesn’t have the capability CAP_DAC_OVERRIDE',
  )

/** Calls back for each container that BuildKit creates, just before its start. Throws if it can't watch. */
export function watchBuildContainers(
  folder: string,
  {
    onContainer,
    onError,
  }: {
    onContainer: (container: BuildContainer) => Promise<void>
    onError: (error: NodeJS.ErrnoException) => void
  },
): Disposable {
  const known = new Set<string>()
  const watcher = watch(folder, (_, name) => {
    if (!name || !/^[a-z0-9]{25}$/.test(name) || known.has(name)) return
    known.add(name)
    void readContainer(join(folder, name)).then((container) => container && onContainer(container))
  })
  watcher.on('error', onError)
  return { [Symbol.dispose]: () => watcher.close() }
}

/** BuildKit creates the folder a moment before the configuration. Null when both disappear before that. */
async function readContainer(folder: string): Promise<BuildContainer | null> {
  const lives = () =>
    stat(folder).then(
      () => true,
      () => false,
    )
  while (await lives()) {
    const group = await readGroup(join(folder, 'config.json'))
    if (group) return { group, lives }
    await Bun.sleep(2)
  }
  return null
}

async function readGroup(file: string): Promise<string | null> {
  try {
    return JSON.parse(await readFile(file, 'utf8')).linux?.cgroupsPath || null
  } catch {
    return null // missing or incomplete so far
  }
}

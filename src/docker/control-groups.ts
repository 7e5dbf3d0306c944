import { existsSync } from 'node:fs'
import { mkdir, open, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'

/** Where this machine's control groups for memory and for processors are mounted. */
export type ControlGroups = { version: 1 | 2; memory: string; cpu: string }

export type Caps = { memoryBytes: number; cpus: number }

/** Null when none exist or none can be written to: in a container, or not as root. */
export async function findControlGroups(
  mountinfo = '/proc/self/mountinfo',
): Promise<ControlGroups | null> {
  const mounts = readMounts(await readFile(mountinfo, 'utf8').catch(() => ''))
  const first = (controller: string) =>
    mounts.find(({ type, options }) => type === 'cgroup' && options.includes(controller))?.path
  const [memory, cpu] = [first('memory'), first('cpu')]
  const unified = mounts.find(({ type }) => type === 'cgroup2')?.path
  const found: ControlGroups | null =
    memory && cpu
      ? { version: 1, memory, cpu }
      : unified
        ? { version: 2, memory: unified, cpu: unified }
        : null
  return found && (await mayWrite(found)) ? found : null
}

/** Mounts that show the whole tree, not a container's view of it. */
const readMounts = (text: string) =>
  text.split('\n').flatMap((line) => {
    const [mount = '', source = ''] = line.split(' - ')
    const [, , , root, path = ''] = mount.split(' ')
    const [type, , options = ''] = source.split(' ')
    return root === '/' ? [{ type, path, options: options.split(',') }] : []
  })

/** Tested by opening: access(2) would ignore our capabilities. */
const mayWrite = ({ memory, cpu }: ControlGroups) =>
  Promise.all(
    [memory, cpu].map(async (mount) => (await open(join(mount, procs), 'r+')).close()),
  ).then(
    () => true,
    () => false,
  )

/** Every group has this file. */
const procs = 'cgroup.procs'

const foldersOf = (groups: ControlGroups, path: string) => ({
  memory: join(groups.memory, path),
  cpu: join(groups.cpu, path),
})

export async function makeGroup(groups: ControlGroups, path: string) {
  for (const folder of Object.values(foldersOf(groups, path)))
    await mkdir(folder, { recursive: true })
}

export const isGroup = (groups: ControlGroups, path: string) => {
  const { memory, cpu } = foldersOf(groups, path)
  return existsSync(memory) && existsSync(cpu)
}

/** Limits a group, including everything below it. */
export async function limitGroup(groups: ControlGroups, path: string, caps: Caps) {
  const { memory, cpu } = foldersOf(groups, path)
  if (groups.version === 1) return limitFirstKind({ memory, cpu }, caps)
  const { memoryBytes } = caps
  await write(memory, 'memory.max', memoryBytes).catch(async (error) => {
    ignoreMissing(error)
    await passControllersDown(groups.memory, path)
    await write(memory, 'memory.max', memoryBytes)
  })
  await write(memory, 'memory.swap.max', 0).catch(ignoreMissing)
  await write(memory, 'cpu.max', `${quota(caps)} ${period}`)
}

/** Finds the group of that name anywhere in a tree. Returns its path below the mount. */
export async function findGroup(mount: string, name: string): Promise<string | null> {
  let level = [mount]
  for (let depth = 0; depth < 5 && level.length > 0; depth++) {
    const below = (await Promise.all(level.map(foldersIn))).flat()
    const found = below.find((folder) => folder.endsWith(`/${name}`))
    if (found) return relative(mount, found)
    level = below
  }
  return null
}

/** Microseconds over which the use of processors is counted. */
export const period = 100_000

/** Microseconds of processor time in each period. */
export const quota = ({ cpus }: Caps) => Math.max(1_000, Math.round(cpus * period))

async function limitFirstKind({ memory, cpu }: { memory: string; cpu: string }, caps: Caps) {
  // the limit with swap may never be lower than the one without: raise it first
  await write(memory, 'memory.memsw.limit_in_bytes', -1).catch(ignoreMissing)
  await write(memory, 'memory.limit_in_bytes', caps.memoryBytes)
  await write(memory, 'memory.memsw.limit_in_bytes', caps.memoryBytes).catch(ignoreMissing)
  await write(cpu, 'cpu.cfs_period_us', period)
  await write(cpu, 'cpu.cfs_quota_us', quota(caps))
}

/** A group only has the controllers that every parent passes on. */
async function passControllersDown(mount: string, path: string) {
  const above = dirname(path) === '.' ? [] : dirname(path).split('/').filter(Boolean)
  for (let depth = 0; depth <= above.length; depth++) {
    const folder = join(mount, ...above.slice(0, depth))
    await write(folder, 'cgroup.subtree_control', '+memory +cpu')
  }
}

const write = (folder: string, name: string, value: string | number) =>
  writeFile(join(folder, name), String(value), { flag: 'r+' })

/** A kernel that doesn't count swap lacks its file. */
function ignoreMissing(error: NodeJS.ErrnoException) {
  if (error.code !== 'ENOENT') throw error
}

const foldersIn = async (folder: string) => {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name))
}

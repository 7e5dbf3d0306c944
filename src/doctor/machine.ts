import { availableParallelism, freemem, release, totalmem } from 'node:os'
import { leastFree, spaceOf } from '../platform/disk-space.ts'
import { gitVersion, oldestGit } from '../git/git.ts'
import { version } from '../platform/root.ts'
import { bytes } from '../web/units.ts'
import { ok, wrong } from './finding.ts'
import type { Finding } from './finding.ts'

/** Bytes of memory below which builds fail for no other reason. */
const leastMemory = 256 * 2 ** 20

export const checkVersions = () => [
  ok('davit', `${version}, Bun ${Bun.version}, ${process.platform} ${release()} ${process.arch}`),
]

export async function checkTools(): Promise<Finding[]> {
  const git = await gitVersion({ signal: AbortSignal.timeout(15_000) })
  const ssh = Bun.which('ssh')
  return [
    Bun.semver.satisfies(padded(git), `>=${oldestGit}.0`)
      ? ok('git', git)
      : wrong('git', git, `Install ${oldestGit} or newer.`),
    ssh
      ? ok('ssh', ssh)
      : wrong('ssh', 'no ssh client', 'Install openssh-client: git@ addresses are cloned with it.'),
  ]
}

/** A vendor's number may have more or fewer parts than three. */
const padded = (number: string) => [...number.split('.'), '0', '0'].slice(0, 3).join('.')

export function checkMemory(): Finding[] {
  const free = freemem() // without swapping, which is more than what is unused
  const is = `${bytes(free)} of ${bytes(totalmem())} free, ${availableParallelism()} processors`
  return [
    free >= leastMemory
      ? ok('memory', is)
      : wrong('memory', is, 'Stop something or add memory: builds are killed for want of it.'),
  ]
}

/** The disk that a folder is on; nothing is said of a folder that is not there for us. */
export async function checkDisk(whose: string, folder: string): Promise<Finding[]> {
  const space = await spaceOf(folder)
  if (!space) return []
  const is = `${bytes(space.free)} free for ${whose} in ${folder}`
  return [
    space.free >= leastFree(space)
      ? ok('disk', is)
      : wrong('disk', is, 'Make room, for example under Settings, Clean-up.'),
  ]
}

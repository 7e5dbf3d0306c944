import { availableParallelism, freemem, release, totalmem } from 'node:os'
import { leastFree, spaceOf } from '../platform/disk-space.ts'
import { gitVersion, oldestGit } from '../git/git.ts'
import { version } from '../platform/root.ts'
import { bytes } from '../web/units.ts'
import { ok, wrong } from './finding.ts'
import type { Finding } from './finding.ts'

/** With fewer free bytes of memory, builds are likely to fail. */
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
      : wrong(
          'ssh',
          'no ssh client',
          'Install openssh-client: it is needed to clone git@ addresses.',
        ),
  ]
}

/** A vendor's version may have more or fewer than three parts. */
const padded = (number: string) => [...number.split('.'), '0', '0'].slice(0, 3).join('.')

export function checkMemory(): Finding[] {
  const free = freemem() // available without swapping, which is more than unused
  const is = `${bytes(free)} of ${bytes(totalmem())} free, ${availableParallelism()} processors`
  return [
    free >= leastMemory
      ? ok('memory', is)
      : wrong(
          'memory',
          is,
          'Stop something or add memory: builds that run out of memory are killed.',
        ),
  ]
}

export async function checkDisk(whose: string, folder: string): Promise<Finding[]> {
  const space = await spaceOf(folder)
  if (!space) return []
  const is = `${bytes(space.free)} free for ${whose} in ${folder}`
  return [
    space.free >= leastFree(space)
      ? ok('disk', is)
      : wrong('disk', is, 'Free some space, for example under Settings, Clean-up.'),
  ]
}

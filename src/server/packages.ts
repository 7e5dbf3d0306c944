import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../platform/errors.ts'
import { run, tryRun } from './run.ts'
import type { Work } from './run.ts'

/** A program from the distribution's packages. */
export type Need = 'engine' | 'git' | 'ssh'

const names = {
  'apt-get': { engine: 'docker.io', git: 'git', ssh: 'openssh-client' },
  dnf: { engine: 'moby-engine', git: 'git', ssh: 'openssh-clients' },
} as const

/** Parses /etc/os-release, which also names related distributions. */
export function distributionIn(release: string) {
  const fields = Object.fromEntries(
    Array.from(release.matchAll(/^([A-Z_]+)=["']?(.*?)["']?$/gm), ([, name, value]) => [
      name,
      value,
    ]),
  )
  const family = `${fields.ID ?? ''} ${fields.ID_LIKE ?? ''}`.split(' ')
  const is = (...ids: string[]) => ids.some((id) => family.includes(id))
  const packages: keyof typeof names | null = is('debian', 'ubuntu')
    ? 'apt-get'
    : is('fedora', 'rhel')
      ? 'dnf'
      : null
  // what its own packages don't provide: the relatives of RHEL have Podman instead
  const lacks: Need[] = packages === 'dnf' && fields.ID !== 'fedora' ? ['engine'] : []
  return { name: fields.PRETTY_NAME ?? 'an unknown distribution', packages, lacks }
}

/** The package names for a package manager. */
export const packagesFor = (manager: keyof typeof names, needs: Need[]) =>
  needs.map((need) => names[manager][need])

const elsewhere =
  'Read the lines above. Docker’s own packages do as well: https://docs.docker.com/engine/install. Then run davit install again.'

/** Also works after a package manager was interrupted. */
export async function installPackages(manager: keyof typeof names, packages: string[], work: Work) {
  const call = { ...work, minutes: 30, todo: elsewhere }
  if (manager === 'dnf') {
    await run({ ...call, argv: ['dnf', '--assumeyes', 'install', ...packages] })
    return
  }
  // dpkg refuses everything until the interrupted work is finished
  await tryRun({ ...call, argv: ['dpkg', '--configure', '--pending'] })
  const options = ['--yes', '-o', 'DPkg::Lock::Timeout=300', '-o', 'Acquire::Retries=2']
  await untilUnlocked((say) => run({ ...call, say, argv: ['apt-get', ...options, 'update'] }), work)
  await run({ ...call, argv: ['apt-get', ...options, 'install', ...packages] })
}

/** A new server installs updates by itself, and apt-get doesn't wait for the lock of its package lists. */
async function untilUnlocked(
  update: (say: Work['say']) => Promise<unknown>,
  { signal, say }: Work,
) {
  const deadline = Date.now() + 300_000
  for (;;) {
    const lines: string[] = [] // only shown if it isn't retried
    try {
      return await update((line) => void lines.push(line))
    } catch (error) {
      const isLocked =
        error instanceof Failure && /\bget lock\b|\block directory\b/.test(error.message)
      if (!isLocked || Date.now() > deadline) {
        for (const line of lines) say(line)
        throw error
      }
      say('    Waiting for another program that installs packages')
      await sleep(5_000, undefined, { signal })
    }
  }
}

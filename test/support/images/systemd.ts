import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { askEngine } from '../machine/engine.ts'
import { withMachineLock } from '../machine/lock.ts'
import { aptSettings, debootstrap } from '../machine/packages.ts'

/** The distribution, and a later one whose Docker can join others. */
export type Suite = 'bookworm' | 'trixie'

/** What a server has after its distribution was installed: no Docker, no git, no ssh client. */
const bare = ['systemd', 'systemd-sysv', 'dbus', 'ca-certificates']

/** What `davit install` would install. */
export const installed = ['docker.io', 'iptables', 'git', 'openssh-client']

/** What a server that joins another one’s Davit has besides. */
export const joinable = ['docker-cli', 'openssh-server']

const tagOf = async () => {
  const text = await Bun.file(import.meta.path).text()
  return new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, 12)
}

/** A bare Debian whose init is systemd, which is made once of Debian's packages. */
export async function ensureBareSystemd(suite: Suite = 'bookworm') {
  const image = `davit-test-systemd-${suite}:${await tagOf()}`
  if (await has(image)) return image
  await withMachineLock(async () => {
    if (!(await has(image))) await makeRoot(image, suite)
  })
  return image
}

const has = async (image: string) => (await askEngine(`/images/${image}/json`)).ok

async function makeRoot(image: string, suite: Suite) {
  const work = await mkdtemp(join(tmpdir(), 'davit-systemd-'))
  const root = join(work, 'root')
  try {
    await debootstrap({ suite, include: bare, root })
    await Bun.write(join(root, 'etc/apt/apt.conf.d/99test'), await aptSettings())
    const tar = Bun.spawn(['tar', '-c', '--numeric-owner', '-C', root, '.'], { stdout: 'pipe' })
    const [repo, tag] = image.split(':')
    const parameters = new URLSearchParams({ fromSrc: '-', repo: repo!, tag: tag! })
    const path = `/images/create?${parameters}`
    const output = await (await askEngine(path, { method: 'POST', body: tar.stdout })).text()
    if ((await tar.exited) !== 0 || !(await has(image)))
      throw new Error(`The Docker Engine does not import ${image}: ${output.trim()}`)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

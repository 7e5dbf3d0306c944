import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectDocker } from '../../../src/docker/index.ts'
import { askEngine } from '../machine/engine.ts'
import { withMachineLock } from '../machine/lock.ts'
import { unpackPackages } from '../machine/suite-packages.ts'

/** By version, where Debian has it. */
const suites = { '0.14': 'bookworm', '0.18': 'trixie', '0.19': 'sid' } as const

/** The versions that a test is for: the oldest, and nightly the one that is pulled by default, too. */
export const resticVersions: ResticVersion[] = process.env.TEST_ALL ? ['0.14', '0.18'] : ['0.14']

export type ResticVersion = keyof typeof suites

const include = [
  'restic',
  'openssh-client',
  'ca-certificates',
  'dash',
  'coreutils',
  'sed',
  'findutils',
  'tar',
]

/** An image with the programs of the official one: restic, ssh and a shell. Returns its name. */
export async function ensureRestic(version: ResticVersion = '0.14') {
  const image = `davit-test-restic:${version}-${hashOf(include.join())}`
  const isThere = async () => (await askEngine(`/images/${image}/json`)).ok
  if (await isThere()) return image
  await withMachineLock(async () => {
    if (await isThere()) return
    await withPackages({ suite: suites[version], packages: include }, (root) =>
      importRoot(image, root),
    )
  })
  return image
}

const folder = join(tmpdir(), 'davit-test-programs')

/** As Davit makes them, so that restic makes it one which costs little each time. */
export const repositoryKey = 'r'.repeat(43)

/** A repository that restic has just made, which takes seconds: a folder that is to be copied. */
export async function ensureRepository(version: ResticVersion) {
  const image = await ensureRestic(version)
  const path = join(folder, `repository-${version}`)
  await withMachineLock(async () => {
    if (existsSync(path)) return
    await mkdir(`${path}.new`, { recursive: true })
    const { exitCode, stderr } = await connectDocker({ host: process.env.DOCKER_HOST }).runPiped({
      ...{
        name: `test-${crypto.randomUUID()}`,
        image,
        network: 'none',
        command: ['restic', 'init'],
      },
      env: { RESTIC_REPOSITORY: '/target', RESTIC_PASSWORD: repositoryKey, HOME: '/tmp' },
      granted: { binds: [{ source: `${path}.new`, path: '/target', readOnly: false }] },
      ...{ cpus: 0.1, memoryBytes: 512 * 2 ** 20, pidsLimit: 64 },
    })
    if (exitCode !== 0) throw new Error(`restic makes no repository: ${stderr}`)
    await rename(`${path}.new`, path)
  })
  return path
}

/** A program of a package, unpacked on this machine, whose C library it uses. */
export async function ensureProgram({ suite, name }: { suite: string; name: string }) {
  const program = join(folder, `${name}-${suite}`)
  if (existsSync(program)) return program
  await withMachineLock(async () => {
    if (existsSync(program)) return
    await mkdir(folder, { recursive: true })
    await withPackages({ suite, packages: [name] }, async (root) => {
      await cp(join(root, 'usr/bin', name), `${program}.new`)
      await rename(`${program}.new`, program)
    })
  })
  return program
}

async function withPackages(
  wanted: { suite: string; packages: string[] },
  use: (root: string) => Promise<void>,
) {
  const work = await mkdtemp(join(tmpdir(), 'davit-packages-'))
  try {
    const root = join(work, 'root')
    await unpackPackages({ ...wanted, root, work })
    await use(root)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function importRoot(image: string, root: string) {
  for (const path of ['tmp', 'proc', 'sys', 'dev', 'run', 'root'])
    await mkdir(join(root, path), { recursive: true })
  await Bun.write(join(root, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\n')
  await Bun.write(join(root, 'etc/group'), 'root:x:0:\n')
  const shell = Bun.spawnSync(['ln', '-sf', 'dash', join(root, 'usr/bin/sh')])
  if (!shell.success) throw new Error(shell.stderr.toString())
  const tar = Bun.spawn(['tar', '-c', '--numeric-owner', '-C', root, '.'], { stdout: 'pipe' })
  const [repo, tag] = image.split(':')
  const parameters = new URLSearchParams({ fromSrc: '-', repo: repo!, tag: tag! })
  const change = 'ENV PATH=/usr/sbin:/usr/bin:/sbin:/bin'
  parameters.append('changes', change)
  const answer = await askEngine(`/images/create?${parameters}`, {
    method: 'POST',
    body: tar.stdout,
  })
  const output = await answer.text()
  if ((await tar.exited) !== 0 || /"error"/.test(output))
    throw new Error(`The Docker Engine does not import ${image}: ${output.trim()}`)
}

const hashOf = (text: string) =>
  new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, 12)

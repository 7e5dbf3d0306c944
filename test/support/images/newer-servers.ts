import { chmod, cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectDocker } from '../../../src/docker/index.ts'
import { buildTestImage } from '../images.ts'
import { askEngine } from '../machine/engine.ts'
import { withMachineLock } from '../machine/lock.ts'
import { unpackPackages } from '../machine/suite-packages.ts'

const basics = ['dash', 'coreutils', 'sed', 'grep', 'hostname', 'util-linux', 'libc-bin']
const servers = ['postgresql-18', 'mysql-server-core', 'mysql-client-core', 'valkey-server']
const packages = [...basics, ...servers, 'valkey-tools']

const users = ['postgres', 'mysql', 'valkey']
const scripts = join(import.meta.dir, 'newer')

/** By name, with what the official image runs. Each name is recognised as that of a database. */
const images = {
  'davit-test-newer/postgres:18': ['postgresql.sh', 'postgres', '/var/lib/postgresql/data'],
  'davit-test-newer/mysql:9': ['mysql.sh', 'mysqld', '/var/lib/mysql'],
  'davit-test-newer/valkey:9': ['valkey.sh', 'valkey-server', '/data'],
} as const

/** Makes images of servers that only a newer Debian has. */
export async function ensureNewerServers() {
  const own = await readdir(scripts)
  const texts = await Promise.all(own.map((name) => Bun.file(join(scripts, name)).text()))
  const text = [...packages, ...texts, JSON.stringify(images)].join('\n')
  const hash = new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, 12)
  const base = `davit-test-newer:${hash}`
  const isThere = async () => (await askEngine(`/images/${base}/json`)).ok
  await withMachineLock(async () => {
    if (!(await isThere())) await importBase(base)
    for (const [tag, [script, program, volume]] of Object.entries(images))
      await buildTestImage(connectDocker(), {
        tag,
        dockerfile: [
          `FROM ${base}`,
          `VOLUME ${volume}`,
          `ENTRYPOINT ["/opt/${script}"]`,
          `CMD ["${program}"]`,
        ].join('\n'),
      })
  })
}

async function importBase(image: string) {
  const work = await mkdtemp(join(tmpdir(), 'davit-newer-'))
  try {
    const root = join(work, 'root')
    await unpackPackages({ suite: 'sid', packages, root, work })
    await layOut(root)
    const tar = Bun.spawn(['tar', '-c', '--numeric-owner', '-C', root, '.'], { stdout: 'pipe' })
    const [repo, tag] = image.split(':')
    const parameters = new URLSearchParams({ fromSrc: '-', repo: repo!, tag: tag! })
    parameters.append('changes', 'ENV LC_ALL=C.UTF-8 PATH=/usr/local/bin:/usr/sbin:/usr/bin')
    const path = `/images/create?${parameters}`
    const output = await (await askEngine(path, { method: 'POST', body: tar.stdout })).text()
    if ((await tar.exited) !== 0 || /"error"/.test(output))
      throw new Error(`The Docker Engine does not import ${image}: ${output.trim()}`)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function layOut(root: string) {
  const own = ['proc', 'sys', 'dev', 'run', 'root', 'tmp', 'opt', 'usr/local/bin', 'etc']
  for (const path of own) await mkdir(join(root, path), { recursive: true })
  await chmod(join(root, 'tmp'), 0o1777)
  await rm(join(root, 'var/run'), { recursive: true, force: true })
  await symlink('/run', join(root, 'var/run'))
  await rm(join(root, 'usr/bin/sh'), { force: true })
  await symlink('dash', join(root, 'usr/bin/sh'))
  const ids = [['root', 0] as const, ...users.map((name, index) => [name, 990 + index] as const)]
  const lines = (line: (name: string, id: number) => string) =>
    ids.map(([name, id]) => `${line(name, id)}\n`).join('')
  await Bun.write(
    join(root, 'etc/passwd'),
    lines((name, id) => `${name}:x:${id}:${id}::/:/bin/sh`),
  )
  await Bun.write(
    join(root, 'etc/group'),
    lines((name, id) => `${name}:x:${id}:`),
  )
  for (const name of await readdir(scripts)) {
    await cp(join(scripts, name), join(root, 'opt', name))
    await chmod(join(root, 'opt', name), 0o755)
  }
  const bin = 'usr/lib/postgresql/18/bin'
  for (const program of await readdir(join(root, bin))) {
    const link = join(root, 'usr/local/bin', program)
    await rm(link, { force: true })
    await symlink(`/${bin}/${program}`, link)
  }
}

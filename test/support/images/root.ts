import { chmod, cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unpackServers } from './packages.ts'

/** Where each server's own scripts lie; a directory each, for they share names. */
export const scripts = '/opt'

const users = ['postgres', 'mysql', 'redis', 'rabbitmq']

const mariadbSettings = '[client-server]\nsocket = /run/mysqld/mysqld.sock\n'

/** A tar of one root file system with all servers in it, for images that share it as a layer. */
export async function withServersTar<T>(use: (tar: ReadableStream<Uint8Array>) => Promise<T>) {
  const work = await mkdtemp(join(tmpdir(), 'davit-images-'))
  try {
    const root = join(work, 'root')
    await unpackServers({ work, root })
    await layOut(root)
    const pack = ['tar', '-c', '--numeric-owner', '-C', root, '.']
    const tar = Bun.spawn(pack, { stdin: 'ignore', stdout: 'pipe' })
    const result = await use(tar.stdout)
    if ((await tar.exited) !== 0) throw new Error('tar can’t pack the servers.')
    return result
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function layOut(root: string) {
  for (const path of ['data', 'root', 'proc', 'sys', 'dev', 'run', 'var/lib/mysql'])
    await mkdir(join(root, path), { recursive: true })
  await mkdir(join(root, 'tmp'), { recursive: true })
  await chmod(join(root, 'tmp'), 0o1777)
  await rm(join(root, 'var/run'), { recursive: true, force: true })
  await symlink('/run', join(root, 'var/run'))
  await Bun.write(
    join(root, 'etc/passwd'),
    table((name, id) => `${name}:x:${id}:${id}::/:/bin/sh`),
  )
  await Bun.write(
    join(root, 'etc/group'),
    table((name, id) => `${name}:x:${id}:`),
  )
  await rm(join(root, 'etc/mysql'), { recursive: true, force: true })
  await Bun.write(join(root, 'etc/mysql/my.cnf'), mariadbSettings)
  await linkPostgres(root)
  const own = join(import.meta.dir, 'roots')
  for (const name of await readdir(own, { recursive: true }))
    if (name.endsWith('.sh')) {
      const path = join(root, scripts, name)
      await cp(join(own, name), path)
      await chmod(path, 0o755)
    }
}

const table = (line: (name: string, id: number) => string) =>
  [line('root', 0), ...users.map((name, index) => line(name, 990 + index)), ''].join('\n')

/** Debian keeps its programs in a directory of the major version, whichever that is. */
async function linkPostgres(root: string) {
  const versions = join(root, 'usr/lib/postgresql')
  const [version] = await readdir(versions)
  for (const program of await readdir(join(versions, version!, 'bin'))) {
    const link = join(root, 'usr/local/bin', program)
    await mkdir(join(root, 'usr/local/bin'), { recursive: true })
    await rm(link, { force: true })
    await symlink(`/usr/lib/postgresql/${version}/bin/${program}`, link)
  }
}

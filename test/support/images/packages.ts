import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { lastLine, requireRoot, run } from '../machine/command.ts'

/** What a root file system wants beside the servers: a shell, and what their scripts call. */
const basics = ['dash', 'bash', 'coreutils', 'sed', 'grep', 'gawk', 'findutils', 'hostname']
const servers = ['postgresql', 'mariadb-server', 'redis-server', 'rabbitmq-server']
const wanted = [...basics, 'util-linux', 'procps', 'libc-bin', ...servers]

/** Wanted for what is not done here: compiling queries, clusters, backups, an interactive shell. */
const needless = /^(lib)?(llvm|z3|perl|python|locales|galera|rsync|cron|logrotate|usrmerge|adduser)/

const documents = ['usr/share/doc', 'usr/share/man', 'usr/share/locale', 'usr/share/info']

/** Downloads Debian's packages of the servers, with all that they depend on, and unpacks them in `root`. */
export async function unpackServers({ work, root }: { work: string; root: string }) {
  requireRoot('the files of Debian’s packages')
  const archives = join(work, 'archives')
  await mkdir(join(archives, 'partial'), { recursive: true })
  await download(archives, join(work, 'status'))
  await mergeUsr(root)
  const packages = (await readdir(archives)).filter((name) => name.endsWith('.deb'))
  const queue = packages.filter((name) => !needless.test(name))
  const worker = async () => {
    for (let name = queue.pop(); name; name = queue.pop())
      await must(['dpkg-deb', '--extract', join(archives, name), root])
  }
  await Promise.all([worker(), worker()])
  for (const path of documents) await rm(join(root, path), { recursive: true, force: true })
}

/** As on a machine that has nothing yet: what this one has installed is wanted too. */
async function download(archives: string, status: string) {
  await Bun.write(status, '')
  const aptGet = [
    'apt-get',
    '--yes',
    ...['-o', `Dir::State::status=${status}`],
    ...['-o', `Dir::Cache::archives=${archives}`],
    ...['-o', 'Debug::NoLocking=1'],
    ...['-o', 'Acquire::Retries=2'],
  ]
  const install = [...aptGet, 'install', '--download-only', '--no-install-recommends', ...wanted]
  if ((await run(install)).exitCode === 0) return
  await run(['apt-get', 'update'])
  await must(install)
}

/** Debian's `/bin` is a link; packages have files in both. */
async function mergeUsr(root: string) {
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) {
    await mkdir(join(root, 'usr', name), { recursive: true })
    await must(['ln', '-s', `usr/${name}`, join(root, name)])
  }
}

async function must(command: string[]) {
  const { exitCode, output } = await run(command)
  if (exitCode !== 0) throw new Error(`${command[0]} fails: ${lastLine(output)}`)
}

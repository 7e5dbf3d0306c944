import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { lastLine, requireRoot, run } from './command.ts'
import { mirror } from './packages.ts'

type Wanted = {
  /** Of Debian, such as `trixie`; it needn't be this machine's. */
  suite: string
  packages: string[]
  /** A folder for the files, and one for what is only needed meanwhile. */
  root: string
  work: string
}

/** Downloads packages of a suite with all that they depend on, and unpacks them in `root`. Runs none of them. */
export async function unpackPackages({ suite, packages, root, work }: Wanted) {
  requireRoot('the files of Debian’s packages')
  const archives = join(work, 'archives')
  for (const path of ['archives/partial', 'lists/partial'])
    await mkdir(join(work, path), { recursive: true })
  await Bun.write(join(work, 'status'), '')
  const keys = '/usr/share/keyrings/debian-archive-keyring.gpg'
  await Bun.write(
    join(work, 'sources'),
    `deb [signed-by=${keys}] ${await mirror()} ${suite} main\n`,
  )
  const settings = {
    'Dir::Etc::sourcelist': join(work, 'sources'),
    'Dir::Etc::sourceparts': '-',
    'Dir::State::lists': join(work, 'lists'),
    'Dir::State::status': join(work, 'status'),
    'Dir::Cache': work,
    'Dir::Cache::archives': archives,
    'Debug::NoLocking': '1',
    'APT::Sandbox::User': 'root',
    'Acquire::Retries': '2',
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  await must(['apt-get', ...options, 'update'])
  const install = ['--yes', '--download-only', '--no-install-recommends', 'install', ...packages]
  await must(['apt-get', ...options, ...install])
  // `/bin` is a link; packages of older suites have files in both
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) {
    await mkdir(join(root, 'usr', name), { recursive: true })
    await must(['ln', '-s', `usr/${name}`, join(root, name)])
  }
  for (const name of await readdir(archives))
    if (name.endsWith('.deb')) await must(['dpkg-deb', '--extract', join(archives, name), root])
  for (const path of ['usr/share/doc', 'usr/share/man', 'usr/share/locale', 'usr/share/info'])
    await rm(join(root, path), { recursive: true, force: true })
}

async function must(command: string[]) {
  const { exitCode, output } = await run(command)
  if (exitCode !== 0) throw new Error(`${command[0]} fails: ${lastLine(output)}`)
}

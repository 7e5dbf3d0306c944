import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lastLine, run } from '../machine/command.ts'
import { askEngine } from '../machine/engine.ts'
import { mirror } from '../machine/packages.ts'

/** As Davit asks for it. */
export const caddyImage = 'caddy:2'

/** An authority for certificates that trusts no one, and the name server that it asks. */
export const pebbleImage = 'davit-test-pebble:latest'

/** Each is its programs and what they need. */
const packages: Record<string, string[]> = {
  [caddyImage]: ['caddy', 'libc6', 'ca-certificates'],
  [pebbleImage]: ['pebble', 'libc6', 'ca-certificates'],
}

const has = async (image: string) => (await askEngine(`/images/${image}/json`)).ok

export async function missingEdgeImages() {
  const missing: string[] = []
  for (const image of Object.keys(packages)) if (!(await has(image))) missing.push(image)
  return missing
}

const unstable = async () => `Types: deb
URIs: ${await mirror()}
Suites: sid
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
`

/**
 * Imports Caddy as an image of Debian's unstable suite, since the stable one is older than Davit needs;
 * likewise its authority. Lists and cache of their own, so that the machine's packages stay as they are.
 */
export async function makeEdgeImages() {
  for (const image of await missingEdgeImages()) await make(image, packages[image]!)
}

async function make(image: string, names: string[]) {
  const work = await mkdtemp(join(tmpdir(), 'davit-caddy-'))
  try {
    const root = join(work, 'root')
    await download(work, names)
    for (const name of ['data', 'config', 'tmp', 'etc/ssl/certs', 'usr/lib64', 'usr/lib'])
      await mkdir(join(root, name), { recursive: true })
    for (const name of ['lib', 'lib64', 'bin'])
      await must(['ln', '-s', `usr/${name}`, join(root, name)])
    for await (const path of new Bun.Glob('*.deb').scan({ cwd: work, absolute: true }))
      await must(['dpkg-deb', '--extract', path, root])
    await trustAuthorities(root)
    await importRoot(root, image)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function download(work: string, names: string[]) {
  await mkdir(join(work, 'lists/partial'), { recursive: true })
  await mkdir(join(work, 'cache/archives/partial'), { recursive: true })
  await Bun.write(join(work, 'sid.sources'), await unstable())
  await Bun.write(join(work, 'status'), '')
  const options = {
    'Dir::Etc::sourcelist': join(work, 'sid.sources'),
    'Dir::Etc::sourceparts': '-',
    'Dir::State::lists': join(work, 'lists'),
    'Dir::State::status': join(work, 'status'),
    'Dir::Cache': join(work, 'cache'),
    'Debug::NoLocking': '1',
    'Acquire::Retries': '2',
  }
  const given = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  await must(['apt-get', ...given, 'update'])
  await must(['apt-get', ...given, 'download', ...names], { cwd: work })
}

/** What the package does when it is installed: one file of all authorities. */
async function trustAuthorities(root: string) {
  const folder = join(root, 'usr/share/ca-certificates/mozilla')
  const names = [...new Bun.Glob('*.crt').scanSync(folder)].toSorted()
  const texts = names.map((name) => Bun.file(join(folder, name)).text())
  const bundle = join(root, 'etc/ssl/certs/ca-certificates.crt')
  await Bun.write(bundle, (await Promise.all(texts)).join('\n'))
}

async function importRoot(root: string, image: string) {
  const tar = Bun.spawn(['tar', '-c', '--numeric-owner', '-C', root, '.'], { stdout: 'pipe' })
  const [repo, tag] = image.split(':')
  const parameters = new URLSearchParams({ fromSrc: '-', repo: repo!, tag: tag! })
  const path = `/images/create?${parameters}`
  const answer = await askEngine(path, { method: 'POST', body: tar.stdout })
  const output = await answer.text()
  if ((await tar.exited) === 0 && (await has(image))) return
  throw new Error(`The Docker Engine does not import ${image}: ${output.trim()}`)
}

async function must(command: string[], options: { cwd?: string } = {}) {
  const { exitCode, output } = await run(command, options)
  if (exitCode !== 0) throw new Error(`${command[0]} fails: ${lastLine(output)}`)
}

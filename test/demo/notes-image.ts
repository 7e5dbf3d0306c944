import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { connectDocker } from '../../src/docker/index.ts'
import { askEngine } from '../support/machine/engine.ts'
import { lastLine, run } from '../support/machine/command.ts'
import { withMachineLock } from '../support/machine/lock.ts'

/** What the Dockerfile of the notes app is built on. */
const image = 'davit-demo-notes:latest'
const madeFrom = 'davit.demo.made-from'

const app = join(import.meta.dir, 'notes')

/**
 * Makes sure that the engine has the image that the notes app is built on: this Bun, and the app's
 * packages from npm, in the versions of its lockfile. Davit's own packages are others.
 */
export async function ensureNotesImage({ say }: { say: (line: string) => void }) {
  const hash = await hashOfParts()
  if (await isMade(hash)) return
  await withMachineLock(async () => {
    if (await isMade(hash)) return
    say('Installing the packages of the notes app (Hono, pg, BullMQ) from npm into an image.')
    const work = await mkdtemp(join(tmpdir(), 'davit-notes-'))
    try {
      await layOut(work)
      await build(work, hash)
    } finally {
      await rm(work, { recursive: true })
    }
  })
}

async function hashOfParts() {
  const hasher = new Bun.CryptoHasher('sha256').update(Bun.version)
  for (const file of [join(app, 'package.json'), join(app, 'bun.lock'), import.meta.path])
    hasher.update(await Bun.file(file).text())
  return hasher.digest('hex').slice(0, 12)
}

async function isMade(hash: string) {
  const answer = await askEngine(`/images/${image}/json`)
  if (!answer.ok) return false
  const { Config } = (await answer.json()) as { Config: { Labels: Record<string, string> | null } }
  return Config.Labels?.[madeFrom] === hash
}

async function layOut(work: string) {
  for (const file of ['package.json', 'bun.lock']) await copyFile(join(app, file), join(work, file))
  const install = [process.execPath, 'install', '--frozen-lockfile', '--production', '--cwd', work]
  const { exitCode, output } = await run(install)
  if (exitCode !== 0)
    throw new Error(`The packages of the notes app can't be installed: ${lastLine(output)}`)
  await copyFile(process.execPath, join(work, 'bun'))
  const libraries = await librariesOf(process.execPath)
  await mkdir(join(work, 'lib'))
  for (const path of libraries) await copyFile(path, join(work, 'lib', basename(path)))
  const lines = [
    'FROM busybox',
    'COPY bun /usr/local/bin/bun',
    ...libraries.map((path) => `COPY lib/${basename(path)} ${path}`),
    'COPY node_modules /app/node_modules',
    'ENV PATH=/usr/local/bin:/usr/bin:/bin',
  ]
  await Bun.write(join(work, 'Dockerfile'), lines.join('\n'))
}

/** The shared libraries of a program, and what loads them. */
async function librariesOf(program: string) {
  const { output } = await run(['ldd', program])
  return Array.from(output.matchAll(/(\/\S+) \(0x/g), ([, path]) => path!)
}

async function build(work: string, hash: string) {
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  const pack = ['tar', '-c', '--owner=0', '--group=0', '--numeric-owner', '-C', work, '.']
  const { stdout: context } = Bun.spawn(pack, { stdin: 'ignore', stdout: 'pipe' })
  const labels = { [madeFrom]: hash }
  for await (const _ of docker.buildImage({
    context,
    dockerfile: 'Dockerfile',
    tag: image,
    labels,
  }))
    continue
}

import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectDocker } from '../../../src/docker/index.ts'
import { lastLine, run } from '../machine/command.ts'
import { askEngine } from '../machine/engine.ts'
import { withMachineLock } from '../machine/lock.ts'
import { languages } from './language-recipes.ts'
import { recipes } from './stand-in-recipes.ts'
import { importTrixie, trixieParts } from './trixie.ts'

/** On which all others are. */
const debian = 'debian:trixie-slim'

/** Its value tells from what an image was made. */
const label = 'test.stand-in'

const indexes = join(import.meta.dir, 'indexes')

const docker = connectDocker({ host: process.env.DOCKER_HOST })

/** Images under the official names, as none can be pulled here. Makes those that are missing. */
export async function ensureStandIns(names: string[]) {
  for (const name of names) await (name === debian ? ensureDebian() : ensureOther(name))
}

async function ensureDebian() {
  await ensure(debian, hashOf(await trixieParts()), async (hash) => {
    await importTrixie('davit-test-trixie:latest')
    await build(debian, { lines: ['FROM davit-test-trixie:latest'], hash })
  })
}

async function ensureOther(name: string) {
  const { from = debian, files = {}, own = [], lines } = recipeOf(name)
  if (from === debian) await ensureDebian()
  const parts = from === debian ? await trixieParts() : []
  const texts = await Promise.all(own.map((file) => Bun.file(join(indexes, file)).text()))
  const hash = hashOf([...parts, JSON.stringify(files), ...texts, ...lines])
  const context = { files, own, lines: [`FROM ${from}`, ...lines], hash }
  await ensure(name, hash, () => build(name, context))
}

async function ensure(name: string, hash: string, make: (hash: string) => Promise<void>) {
  if (await isMade(name, hash)) return
  await withMachineLock(async () => {
    if (!(await isMade(name, hash))) await make(hash)
  })
}

/** One without the label was pulled, and is the better one. */
async function isMade(name: string, hash: string) {
  const answer = await askEngine(`/images/${name}/json`)
  if (!answer.ok) return false
  const { Config } = (await answer.json()) as { Config: { Labels: Record<string, string> | null } }
  const made = Config.Labels?.[label]
  return made === undefined ? Config.Labels?.['test.image'] === undefined : made === hash
}

function recipeOf(name: string) {
  const colon = name.lastIndexOf(':')
  const recipe = { ...recipes, ...languages }[name.slice(0, colon)]
  if (!recipe) throw new Error(`There is no recipe for a stand-in of ${name}.`)
  const tag = name.slice(colon + 1)
  return recipe(/^\d*(\.\d+)*/.exec(tag)![0], tag)
}

/** `files` are packages of npm, by the directory of the build's context that they are unpacked to. */
async function build(
  name: string,
  {
    files = {},
    own = [],
    lines,
    hash,
  }: { files?: Record<string, string>; own?: string[]; lines: string[]; hash: string },
) {
  const work = await mkdtemp(join(tmpdir(), 'davit-stand-in-'))
  try {
    for (const [directory, spec] of Object.entries(files))
      await unpack(spec, { work, to: join(work, directory) })
    for (const file of own) await cp(join(indexes, file), join(work, file))
    const text = [...lines, `LABEL ${label}=${hash}`].join('\n')
    await Bun.write(join(work, 'Dockerfile'), text)
    const tar = Bun.spawn(['tar', '-c', '--owner=0', '--group=0', '-C', work, '.'], {
      stdout: 'pipe',
    })
    const options = { context: tar.stdout, dockerfile: 'Dockerfile', tag: name, labels: {} }
    for await (const _ of docker.buildImage(options)) continue
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function unpack(spec: string, { work, to }: { work: string; to: string }) {
  const { exitCode, output } = await run(['npm', 'pack', '--silent', spec], { cwd: work })
  if (exitCode !== 0) throw new Error(`npm can’t get ${spec}: ${lastLine(output)}`)
  const archive = join(work, output.trim().split('\n').at(-1)!)
  await mkdir(to, { recursive: true })
  await run(['tar', '-x', '--strip-components=1', '-f', archive, '-C', to])
  await rm(archive)
}

const hashOf = (parts: string[]) =>
  new Bun.CryptoHasher('sha256').update(parts.join('\n')).digest('hex').slice(0, 12)

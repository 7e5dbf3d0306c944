import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { connectDocker } from '../../../src/docker/index.ts'
import { lastLine, run } from '../machine/command.ts'
import { askEngine } from '../machine/engine.ts'
import { withMachineLock } from '../machine/lock.ts'

/** This Bun on busybox: what apps of tests that need more than a shell are built on. */
export const bunImage = 'davit-test-bun:latest'

const madeFrom = 'test.made-from'

/** Makes sure that the engine has it. */
export const ensureBunImage = (options: { say: (line: string) => void }) =>
  ensureImageWithBun({ ...options, image: bunImage, doing: 'Copying Bun', parts: [] })

/**
 * Makes sure that the engine has an image with this Bun and more, which `layOut` puts into a directory;
 * it answers the lines of a Dockerfile for that. Made again when one of the texts in `parts` changes.
 */
export async function ensureImageWithBun({
  image,
  doing,
  parts,
  layOut = async () => [],
  say,
}: {
  image: string
  doing: string
  parts: string[]
  layOut?: (work: string) => Promise<string[]>
  say: (line: string) => void
}) {
  const hash = await hashOf(parts)
  if (await isMade(image, hash)) return
  await withMachineLock(async () => {
    if (await isMade(image, hash)) return
    say(`${doing} into the image ${image}.`)
    const work = await mkdtemp(join(tmpdir(), 'davit-image-'))
    try {
      const lines = [...(await layOutBun(work)), ...(await layOut(work))]
      await Bun.write(join(work, 'Dockerfile'), lines.join('\n'))
      await build(work, { image, hash })
    } finally {
      await rm(work, { recursive: true })
    }
  })
}

async function hashOf(parts: string[]) {
  const hasher = new Bun.CryptoHasher('sha256').update(Bun.version)
  for (const text of [...parts, await Bun.file(import.meta.path).text()]) hasher.update(text)
  return hasher.digest('hex').slice(0, 12)
}

async function isMade(image: string, hash: string) {
  const answer = await askEngine(`/images/${image}/json`)
  if (!answer.ok) return false
  const { Config } = (await answer.json()) as { Config: { Labels: Record<string, string> | null } }
  return Config.Labels?.[madeFrom] === hash
}

async function layOutBun(work: string) {
  await copyFile(process.execPath, join(work, 'bun'))
  const libraries = await librariesOf(process.execPath)
  await mkdir(join(work, 'lib'))
  for (const path of libraries) await copyFile(path, join(work, 'lib', basename(path)))
  return [
    'FROM busybox',
    'COPY bun /usr/local/bin/bun',
    ...libraries.map((path) => `COPY lib/${basename(path)} ${path}`),
    'ENV PATH=/usr/local/bin:/usr/bin:/bin',
  ]
}

/** The shared libraries of a program, and what loads them. */
async function librariesOf(program: string) {
  const { exitCode, output } = await run(['ldd', program])
  if (exitCode !== 0) throw new Error(`ldd fails: ${lastLine(output)}`)
  return Array.from(output.matchAll(/(\/\S+) \(0x/g), ([, path]) => path!)
}

async function build(work: string, { image, hash }: { image: string; hash: string }) {
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  const pack = ['tar', '-c', '--owner=0', '--group=0', '--numeric-owner', '-C', work, '.']
  const { stdout: context } = Bun.spawn(pack, { stdin: 'ignore', stdout: 'pipe' })
  const options = { context, dockerfile: 'Dockerfile', tag: image, labels: { [madeFrom]: hash } }
  for await (const _ of docker.buildImage(options)) continue
}

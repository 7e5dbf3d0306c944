import { existsSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import manifest from '../../package.json' with { type: 'json' }
import { buildImage } from './image.ts'
import { must } from './executables.ts'
import { makeRelease } from './make.ts'
import { repository } from './lockfile.ts'
import { readSigningKey } from './sign.ts'

const usage = `Usage: npm run release -- [--dirty] [--image]

Makes a release of the version in package.json in dist/release: executables, their checksums, a bill of
materials, notes. RELEASE_KEY, or the file RELEASE_KEY_FILE, has minisign's secret key to sign it with.

  --dirty   also from files that aren't committed
  --image   fail when the image of the Dockerfile can't be built
`

try {
  process.exit(await release())
} catch (error) {
  console.error(`release: ${(error as Error).message}`)
  process.exit(1)
}

async function release() {
  const options = { dirty: { type: 'boolean' }, image: { type: 'boolean' } } as const
  const { values } = parseArgs({ options: { ...options, help: { type: 'boolean' } } })
  if (values.help) return say(usage)
  const { version } = manifest
  if (!values.dirty) await refuseDirty()
  await refuseOtherTag(version)
  const key = await signingKey()
  const directory = join(repository, 'dist/release')
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { recursive: true })
  await buildImage({ version, directory, isRequired: values.image ?? false, say })
  await makeRelease({ directory, version, key, say })
  if (!key) say('Not signed: RELEASE_KEY isn’t set.')
  say(`dist/release has ${(await readdir(directory)).sort().join(', ')}`)
  return 0
}

function say(line: string) {
  console.log(line)
  return 0
}

async function refuseDirty() {
  const changes = await must(['git', 'status', '--porcelain'])
  if (changes.trim()) throw new Error('There are changes that aren’t committed. See --dirty.')
}

/** A tag names what is released: it must be the version's. */
async function refuseOtherTag(version: string) {
  const tags = (await must(['git', 'tag', '--points-at', 'HEAD', 'v[0-9]*']))
    .split('\n')
    .filter(Boolean)
  if (tags.length > 0 && !tags.includes(`v${version}`))
    throw new Error(`The tag is ${tags.join(', ')}, but package.json has version ${version}.`)
}

async function signingKey() {
  const { RELEASE_KEY: text, RELEASE_KEY_FILE: file } = process.env
  if (text) return readSigningKey(text)
  if (!file) return null
  if (!existsSync(file)) throw new Error(`There is no file ${file}.`)
  return readSigningKey(await Bun.file(file).text())
}

import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { run } from '../support/machine/command.ts'
import { readLockfile, repository } from './lockfile.ts'

/**
 * What executables are made for, and the package with its Bun. That of x64 needs no processor newer than
 * 2008: the package `bun-linux-x64-baseline` of this version has the same file.
 */
export const targets = {
  'linux-x64': '@oven/bun-linux-x64',
  'linux-x64-musl': '@oven/bun-linux-x64-musl',
  'linux-arm64': '@oven/bun-linux-aarch64',
  'linux-arm64-musl': '@oven/bun-linux-aarch64-musl',
  'darwin-arm64': '@oven/bun-darwin-aarch64', // for users' own computers
} as const

export type Target = keyof typeof targets

export const executableName = (version: string, target: Target) => `davit-${version}-${target}`

/** Builds the executable of a target by the script `build` of package.json, its flags and all. */
export async function buildExecutable(
  outfile: string,
  { target, publicKey = null, cwd = repository }: BuildOptions,
) {
  const work = await mkdtemp(join(tmpdir(), 'davit-build-'))
  const draft = join(work, 'davit') // maps of the source are written beside it
  try {
    const words = manifest.scripts.build.replace('dist/davit', draft).split(' ').slice(2)
    const bun = await bunFor(target)
    await must(
      [
        process.execPath,
        ...words,
        `--target=bun-${target}`,
        `--compile-executable-path=${bun}`,
        ...(publicKey ? ['--define', `RELEASE_PUBLIC_KEY=${JSON.stringify(publicKey)}`] : []),
      ],
      cwd,
    )
    await must(['mv', draft, outfile])
  } finally {
    await rm(work, { recursive: true })
  }
}

type BuildOptions = {
  target: Target
  /** Trusted by the executable when it upgrades itself. */
  publicKey?: string | null
  /** Another copy of the repository. */
  cwd?: string
}

/** Bun's own executable for a target, from the registry of npm; it has the hash of the lockfile. */
async function bunFor(target: Target) {
  const { version, integrity } = (await readLockfile()).get(targets[target])!
  const name = `${targets[target].replace('@', '').replace('/', '-')}-${version}`
  const cache = join(repository, 'node_modules/.cache/davit-release')
  const bun = join(cache, name)
  if (await Bun.file(bun).exists()) return bun
  await mkdir(cache, { recursive: true })
  const work = await mkdtemp(join(cache, 'work-'))
  try {
    await must([
      'npm',
      'pack',
      '--silent',
      '--pack-destination',
      work,
      `${targets[target]}@${version}`,
    ])
    const archive = join(work, `${name}.tgz`)
    const hash = new Bun.CryptoHasher('sha512').update(await Bun.file(archive).bytes())
    if (`sha512-${hash.digest('base64')}` !== integrity)
      throw new Error(`${targets[target]} isn’t the package that bun.lock names.`)
    await must(['tar', '-xzf', archive, '-C', work, 'package/bin/bun'])
    await rename(join(work, 'package/bin/bun'), bun)
  } finally {
    await rm(work, { recursive: true })
  }
  return bun
}

/** The output of a program that must succeed. */
export async function must(command: string[], cwd = repository) {
  const { exitCode, output } = await run(command, { cwd })
  if (exitCode !== 0) throw new Error(`${command.slice(0, 3).join(' ')}: ${output.trim()}`)
  return output
}

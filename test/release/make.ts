import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { buildExecutable, executableName, must, targets } from './executables.ts'
import type { Target } from './executables.ts'
import { releaseNotes } from './notes.ts'
import { billOfMaterials } from './sbom.ts'
import { signatureOf } from './sign.ts'
import type { SigningKey } from './sign.ts'

type Release = {
  directory: string
  version: string
  /** Null: not signed. */
  key: SigningKey | null
  say: (line: string) => void
  /** Another copy of the repository, with this version. */
  cwd?: string
  only?: Target[]
}

/** Writes the files of a release to a directory, and the checksums of all that is there. */
export async function makeRelease(release: Release) {
  const { directory, version, key, say, cwd } = release
  const made = release.only ?? (Object.keys(targets) as Target[])
  for (const target of made) {
    const name = executableName(version, target)
    say(`Building ${name}.`)
    const options = { target, publicKey: key?.publicKey ?? null, ...(cwd && { cwd }) }
    await buildExecutable(join(directory, name), options)
  }
  const at = await commitTime()
  const bill = await billOfMaterials({ version, at })
  await writeJson(join(directory, `davit-${version}.cdx.json`), bill)
  await Bun.write(join(directory, 'NOTES.md'), await releaseNotes(version))
  const files = Object.fromEntries(made.map((target) => [target, executableName(version, target)]))
  await writeJson(join(directory, 'release.json'), { version, date: at.toISOString(), files })
  await sumUp(release)
}

/** The file that sha256sum --check reads, and its signature: what it lists needs none of its own. */
async function sumUp({ directory, version, key }: Release) {
  const names = (await readdir(directory)).sort()
  const lines = await Promise.all(
    names.map(async (name) => `${await sha256Of(join(directory, name))}  ${name}\n`),
  )
  const sums = Buffer.from(lines.join(''))
  await Bun.write(join(directory, 'SHA256SUMS'), sums)
  if (!key) return
  const signature = signatureOf(sums, key, `davit ${version}`)
  await Bun.write(join(directory, 'SHA256SUMS.minisig'), signature)
}

export async function sha256Of(path: string) {
  const hash = new Bun.CryptoHasher('sha256')
  for await (const chunk of Bun.file(path).stream()) hash.update(chunk)
  return hash.digest('hex')
}

/** So that the same commit makes the same files. */
const commitTime = async () => new Date((await must(['git', 'log', '-1', '--format=%cI'])).trim())

const writeJson = (path: string, value: object) =>
  Bun.write(path, `${JSON.stringify(value, null, 2)}\n`)

import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { askEngine } from '../machine/engine.ts'
import { aptSettings, debootstrap } from '../machine/packages.ts'

const trusted = 'etc/ssl/certs/ca-certificates.crt'
const added = 'usr/local/share/ca-certificates'

/** Where programs that bring authorities of their own look for those of this machine. */
const environment = ['SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS', 'PIP_CERT', 'REQUESTS_CA_BUNDLE']

/** The texts that the image depends on. */
export const trixieParts = async () => [await Bun.file(import.meta.path).text()]

/**
 * Imports the smallest Debian trixie as an image. Like the official one it has no documents and not the package
 * ca-certificates, but it trusts whom this machine trusts.
 */
export async function importTrixie(image: string) {
  const work = await mkdtemp(join(tmpdir(), 'davit-trixie-'))
  const root = join(work, 'root')
  try {
    await debootstrap({ suite: 'trixie', include: [], root })
    for (const path of ['var/lib/apt/lists', 'var/cache/apt/archives', 'usr/share/doc'])
      for (const name of await readdir(join(root, path)))
        if (name !== 'partial') await rm(join(root, path, name), { recursive: true })
    for (const path of ['usr/share/man', 'usr/share/locale', 'usr/share/info'])
      await rm(join(root, path), { recursive: true, force: true })
    await Bun.write(join(root, 'etc/apt/apt.conf.d/99test'), await aptSettings())
    for (const path of [added, dirname(trusted)]) await mkdir(join(root, path), { recursive: true })
    await cp(`/${added}`, join(root, added), { recursive: true }).catch(() => {})
    await cp(`/${trusted}`, join(root, trusted), { dereference: true })
    const tar = Bun.spawn(['tar', '-c', '--numeric-owner', '-C', root, '.'], { stdout: 'pipe' })
    const [repo, tag] = image.split(':')
    const variables = environment.map((name) => `${name}=/${trusted}`).join(' ')
    const parameters = new URLSearchParams({ fromSrc: '-', repo: repo!, tag: tag! })
    parameters.append('changes', `ENV ${variables}`)
    const path = `/images/create?${parameters}`
    const output = await (await askEngine(path, { method: 'POST', body: tar.stdout })).text()
    if ((await tar.exited) !== 0 || /"error"/.test(output))
      throw new Error(`The Docker Engine does not import ${image}: ${output.trim()}`)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { closureOf, directoryOf, needsOf, readLockfile } from './lockfile.ts'
import type { Package } from './lockfile.ts'

/** Packages whose files are in `assets/`: for the browser, from no dependency of the server. */
export const shipped = [
  '@xterm/addon-fit',
  '@xterm/xterm',
  'basecoat-css',
  'htmx.org',
  'lucide-static',
  'simple-icons',
  'uplot',
]

/** What is in the executables, as CycloneDX 1.6: packages with their hashes, licences and dependencies. */
export async function billOfMaterials({ version, at }: { version: string; at: Date }) {
  const packages = await readLockfile()
  const ofServer = closureOf(packages, Object.keys(manifest.dependencies))
  const bun = { ...packages.get('bun')!, needs: [] }
  const inAssets = shipped.map((name) => packages.get(name)!)
  const all = [...ofServer, bun, ...inAssets]
  const root = `pkg:generic/davit@${version}`
  const direct = [...Object.keys(manifest.dependencies), 'bun', ...shipped]
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: at.toISOString(),
      component: {
        ...{ type: 'application', 'bom-ref': root, name: 'davit', version, purl: root },
        licenses: [{ license: { id: manifest.license } }],
      },
    },
    components: await Promise.all(all.map(component)),
    dependencies: [
      { ref: root, dependsOn: direct.map((name) => refOf(packages.get(name)!)) },
      ...ofServer.map((one) => ({
        ref: refOf(one),
        dependsOn: [...new Set(needsOf(packages, one).map(refOf))].sort(),
      })),
      ...[bun, ...inAssets].map((one) => ({ ref: refOf(one), dependsOn: [] })),
    ],
  }
}

async function component(one: Package) {
  return {
    type: 'library',
    'bom-ref': refOf(one),
    name: one.name,
    version: one.version,
    purl: purlOf(one),
    hashes: [{ alg: 'SHA-512', content: hexOf(one.integrity) }],
    licenses: [{ license: { name: await licenceOf(one) } }],
  }
}

/** Two copies of one version may be in the tree. */
const refOf = (one: Package) => `${purlOf(one)}#${one.path}`

const purlOf = ({ name, version }: Package) => `pkg:npm/${name.replace('@', '%40')}@${version}`

const hexOf = (integrity: string) =>
  Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex')

async function licenceOf(one: Package): Promise<string> {
  const file = Bun.file(join(directoryOf(one), 'package.json'))
  const { license, licenses } = (await file.json()) as Licensed
  const name = license ?? licenses?.[0]?.type
  if (!name) throw new Error(`${one.path} doesn’t name its licence.`)
  return name
}

/** Packages of long ago have a list. */
type Licensed = { license?: string; licenses?: { type: string }[] }

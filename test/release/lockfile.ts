import { join } from 'node:path'
import { parse } from 'yaml'

export const repository = join(import.meta.dir, '../..')

type Entry = [
  name: string,
  registry: string,
  about: { dependencies?: Record<string, string> },
  integrity: string,
]

export type Package = {
  /** Where it is in node_modules: another package's path comes first where versions differ. */
  path: string
  name: string
  version: string
  /** `sha512-` and base64, as the registry has it. */
  integrity: string
  /** Without what is optional, which isn't in an executable. */
  needs: string[]
}

/** All packages of bun.lock by their path. Its trailing commas make it no JSON, but YAML. */
export async function readLockfile(): Promise<Map<string, Package>> {
  const text = await Bun.file(join(repository, 'bun.lock')).text()
  const { packages } = parse(text) as { packages: Record<string, Entry> }
  return new Map(Object.entries(packages).map(([path, entry]) => [path, packageOf(path, entry)]))
}

function packageOf(path: string, [id, , { dependencies = {} }, integrity]: Entry): Package {
  const at = id.lastIndexOf('@')
  return {
    path,
    name: id.slice(0, at),
    version: id.slice(at + 1),
    integrity,
    needs: Object.keys(dependencies),
  }
}

/** Those that these packages need, themselves included. */
export function closureOf(packages: Map<string, Package>, names: string[]): Package[] {
  const found = new Map<string, Package>()
  const open = names.map((name) => packages.get(name)!)
  for (let one = open.pop(); one; one = open.pop()) {
    if (found.has(one.path)) continue
    found.set(one.path, one)
    open.push(...needsOf(packages, one))
  }
  return [...found.values()].sort((a, b) => a.path.localeCompare(b.path, 'en'))
}

export const needsOf = (packages: Map<string, Package>, { path, needs }: Package) =>
  needs.map((name) => nearest(packages, path, name))

/** As in node_modules: a package's own copy comes first, then one of those around it, then the common one. */
function nearest(packages: Map<string, Package>, path: string, name: string): Package {
  const around = path.match(eachName) ?? []
  for (let depth = around.length; depth >= 0; depth--) {
    const found = packages.get([...around.slice(0, depth), name].join('/'))
    if (found) return found
  }
  throw new Error(`bun.lock has no ${name}, which ${path} needs.`)
}

/** The names of the packages in a path, of which some have a scope. */
const eachName = /@[^/]+\/[^/]+|[^/]+/g

/** Where it is installed. */
export const directoryOf = ({ path }: Package) =>
  join(repository, ...path.match(eachName)!.flatMap((name) => ['node_modules', name]))

import type { JsonObject } from './files.ts'
import { objectOf, stringOf } from './files.ts'

/** The scripts of package.json that each installation runs, which may need the repository's files. */
export type Hooks = ReturnType<typeof hooksOf>

/** In the order in which npm runs them. */
const names = ['preinstall', 'install', 'postinstall', 'prepare']

/** For a developer's machine, or done by the framework's build too. */
const needless =
  /^(npx (-y |--yes )?)?(husky( install)?|simple-git-hooks|lefthook install|only-allow \w+|is-ci|nuxi? prepare|nuxt prepare|true|exit 0|echo( [\w '"-]*)?)$/

const outsideModules = /^(svelte-kit|astro) sync$/

/** The settings may have another command for the build. */
export function hooksOf(manifest: JsonObject, build?: string) {
  const scripts = objectOf(manifest['scripts'])
  // These do it too.
  const syncs = /^(vite|astro) build\b/.test(build ?? stringOf(scripts['build']) ?? '')
  const isNeedless = (part: string) => needless.test(part) || (syncs && outsideModules.test(part))
  const found = names.flatMap((name) => {
    const script = stringOf(scripts[name])
    return script === null ? [] : [{ name, parts: partsOf(script) }]
  })
  const needed = found.filter(({ parts }) => !parts.every(isNeedless))
  return {
    /** All there are. Without them an installation needs no code, so it is done again for other dependencies alone. */
    names: found.map(({ name }) => name),
    /** Those that an image needs, run when the code is there. */
    needed: needed.map(({ name }) => name),
    /** Whether they may write into node_modules, as patches and generators do. */
    writesModules: needed.some(
      ({ parts }) => !parts.every((part) => needless.test(part) || outsideModules.test(part)),
    ),
  }
}

const partsOf = (script: string) => script.split(/\|\||&&|;/).map((part) => part.trim())

import { joinWords } from '../platform/shell-words.ts'
import type { Files, JsonObject } from './files.ts'
import { objectOf, stringOf, webOfProcfile } from './files.ts'
import type { Served } from './node-frameworks.ts'
import type { PackageManager } from './package-manager.ts'
import { lacking } from './plan.ts'
import type { Settings } from './plan.ts'

/** How the app is served: by the settings, a Procfile, its framework, then by package.json. */
export function servedBy({
  files,
  manifest,
  manager,
  settings,
  found,
  hasBuild,
}: {
  files: Files
  manifest: JsonObject
  manager: PackageManager
  settings: Settings
  found: Served | null
  hasBuild: boolean
}): Served {
  if (settings.start !== undefined) return { start: settings.start }
  if (settings.directory !== undefined)
    return { directory: settings.directory, spa: settings.spa ?? false }
  const procfile = webOfProcfile(files)
  if (procfile !== null) return { start: procfile }
  if (found) return found
  const scripts = objectOf(manifest['scripts'])
  const script = stringOf(scripts['start:prod']) ?? stringOf(scripts['start'])
  if (script !== null) return { start: scriptText(scripts, script) }
  const main = stringOf(manifest['main'])
  const file =
    main !== null && (files.has(main) || (hasBuild && isBuilt.test(main)))
      ? main
      : files.first('server.js', 'index.js', 'app.js', 'index.ts')
  const program = manager.name === 'bun' ? 'bun' : 'node'
  if (file !== undefined)
    return { start: joinWords([program, file.startsWith('-') ? `./${file}` : file]) }
  const hasSite = files.has('index.html')
  if (hasSite) return { directory: '.', spa: false }
  throw lacking(
    'package.json doesn’t say how the app starts.',
    'Add a script “start” to package.json, such as "start": "node server.js", or set the start command.',
  )
}

/** A path below a folder that builds write to. */
const isBuilt = /^(\.\/)?(dist|build|out|lib)\//

/**
 * A script that runs another one is that one: a package manager between would not pass on the stop signal.
 * What builds first has been built.
 */
function scriptText(scripts: JsonObject, script: string): string {
  const built = stringOf(scripts['build']) === null ? /^$/ : buildsFirst
  let text = script.replace(built, '')
  for (let depth = 0; depth < 5; depth++) {
    const name = /^(?:npm run|npm run-script|yarn run|yarn|pnpm run|pnpm|bun run) ([\w:.-]+)$/.exec(
      text.trim(),
    )?.[1]
    const next = name === undefined ? null : stringOf(scripts[name])
    if (next === null) break
    text = next.replace(built, '')
  }
  return text.trim()
}

const buildsFirst = /^(npm run|yarn( run)?|pnpm( run)?|bun run) build && /

/** The dependencies for development that a start command names, which it then needs when it runs. */
export function developmentIn(start: string, manifest: JsonObject) {
  const names = objectOf(manifest['devDependencies'])
  const words = start
    .split(/[\s'"]/)
    .map((word) => (Object.hasOwn(programs, word) ? programs[word]! : word))
  return [...new Set(words)].filter((word) => Object.hasOwn(names, word))
}

/** Programs by the package that has them, where the names differ. */
const programs: Record<string, string> = {
  'babel-node': '@babel/node',
  'ts-node/register': 'ts-node',
  'ts-node-esm': 'ts-node',
  'tsx/esm': 'tsx',
  'tsx/cjs': 'tsx',
  'tsconfig-paths/register': 'tsconfig-paths',
  'dotenv/config': 'dotenv',
}

import { Failure } from '../platform/errors.ts'
import { partsOf } from './apps.ts'
import type { Part } from './apps.ts'
import { deno } from './deno.ts'
import { dotnet } from './dotnet.ts'
import { elixir } from './elixir.ts'
import { Files } from './files.ts'
import { go } from './go.ts'
import { java } from './java.ts'
import { isDockerfile } from './manifests.ts'
import { node } from './node.ts'
import { php } from './php.ts'
import { ofSites } from './plan.ts'
import type { Found, Options, Plan, Rule, Settings } from './plan.ts'
import { python } from './python.ts'
import { ruby } from './ruby.ts'
import { rust } from './rust.ts'
import { site } from './sites.ts'
import { effective, ignored } from './text.ts'
import { workspacesOf } from './workspaces.ts'

/**
 * A repository is of the first kind that knows it. What serves an app comes before package.json, which many
 * have for their front end only; plain files come last.
 */
const rules: Rule[] = [deno, php, ruby, python, elixir, go, rust, java, dotnet, node, site]

/** In characters, as scripts of a repository have any length. */
const maxReason = 300

export type Question = {
  /** Of the whole repository, joined by NUL. */
  paths: string
  texts: [path: string, text: string][]
  /** Of the app in the repository; '' is its top. */
  directory?: string
  settings: Settings
  buildVariables: string[]
}

/** A plan or a problem, and what else the repository holds. */
export type Survey = {
  plan: Plan | null
  problem: { code: string; message: string; hint: string } | null
  workspaces: Part[]
}

/**
 * Recognises what a repository, or one directory of it, is, and writes its Dockerfile. A pure function of names
 * and texts.
 *
 * @throws Failure `not_recognized`, `manifest_invalid`.
 */
export function detect(question: Question): Plan {
  const { directory = '' } = question
  const repository = filesOf(question)
  const workspaces = workspacesOf(repository, directory)
  return planOf(question, { files: repository.below(directory), directory, workspaces })
}

/** The same without a throw, and with all apps and packages of the repository. */
export function survey(question: Question): Survey {
  const { directory = '' } = question
  const repository = filesOf(question)
  const found = attempt(() => detect(question))
  const top = directory === '' ? found : attempt(() => detect({ ...question, directory: '' }))
  const parts = attempt(() =>
    partsOf(repository, {
      isApp: 'value' in top,
      recognise: (given) => recognise({ ...given, settings: {}, buildVariables: [] }),
    }),
  )
  const workspaces = 'value' in parts ? parts.value : []
  if ('value' in found) return { plan: found.value, problem: null, workspaces }
  const apps = workspaces.filter(({ kind }) => kind !== null)
  const isOne = directory !== '' || apps.length === 0 || found.failure.code !== 'not_recognized'
  const { code, message, hint } = isOne ? found.failure : severalApps(apps)
  return { plan: null, problem: { code, message, hint }, workspaces }
}

function attempt<Value>(work: () => Value): { value: Value } | { failure: Failure } {
  try {
    return { value: work() }
  } catch (error) {
    if (error instanceof Failure) return { failure: error }
    throw error
  }
}

function severalApps(apps: Part[]) {
  const named = apps.slice(0, 5).map(({ directory, kind }) => `${directory} (${kind})`)
  const rest = apps.length > 5 ? ` and ${apps.length - 5} more` : ''
  return new Failure(
    'not_recognized',
    `The app isn’t at the top of this repository, which holds ${named.join(', ')}${rest}.`,
    'Set the context directory to one of them.',
  )
}

const filesOf = ({ paths, texts }: Question) =>
  new Files(
    paths.split('\0').filter((path) => path !== ''),
    new Map(texts),
  )

function planOf(
  { settings, buildVariables }: Question,
  place: Pick<Options, 'files' | 'directory' | 'workspaces'>,
): Plan {
  const { paths } = place.files
  const plan = recognise({ ...place, settings, buildVariables })
  if (!plan) throw notRecognized(paths)
  const { context = place.directory, reasons, ignore, settings: found, ...more } = plan
  const { unused = ofSites, releaseCommand = null, ...rest } = more
  const idle = unused.filter((name) => settings[name] !== undefined)
  return {
    ...rest,
    releaseCommand,
    context,
    reasons: [...reasons, ...idle.map(saidUnused), ...unusedFiles(paths)].map((reason) =>
      reason.slice(0, maxReason),
    ),
    dockerignore: ignored(ignore),
    settings: effective(found, settings, unused),
  }
}

function recognise(options: Options): Found | null {
  for (const rule of rules) {
    const plan = rule.plan(options)
    if (plan) return plan
  }
  return null
}

/** Names what is nearly it, else what was looked for. */
function notRecognized(paths: readonly string[]) {
  const failure = (what: string, fix: string) => new Failure('not_recognized', what, fix)
  const compose = paths.find((path) => /^(docker-)?compose\.ya?ml$/.test(path))
  if (compose !== undefined)
    return failure(
      `There is no Dockerfile at the top, but ${compose}.`,
      `Set the Compose file in the project’s settings to ${compose} to run its services, or add a Dockerfile.`,
    )
  const dockerfile = paths.find((path) => isDockerfile.test(path))
  if (dockerfile !== undefined)
    return failure(
      `There is no Dockerfile at the top, but ${dockerfile}.`,
      'Set the Dockerfile in the project’s settings, or the context directory to its folder.',
    )
  const folder = paths
    .find((path) => /^[^/]+\/[^/]+$/.test(path) && isManifest(path))
    ?.split('/')[0]
  if (folder !== undefined)
    return failure(
      `Nothing at the top says how this is built, but there is an app in ${folder}.`,
      `Set the context directory to ${folder}, or add a Dockerfile.`,
    )
  const wanted = rules.flatMap(({ looksFor }) => looksFor).join(', ')
  return failure('Nothing here says how this is built.', `Add a Dockerfile, or one of ${wanted}.`)
}

const saidUnused = (name: keyof Settings) => `“${name}” of the settings isn’t used for this kind`

/** A Dockerfile that isn't where one is looked for. */
function unusedFiles(paths: readonly string[]) {
  const path = paths.find((path) => isDockerfile.test(path))
  return path === undefined ? [] : [`${path} isn’t used, as its path isn’t set`]
}

const isManifest = (path: string) =>
  rules.some(({ looksFor }) => looksFor.includes(path.slice(path.indexOf('/') + 1)))

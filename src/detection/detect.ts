import { Failure } from '../platform/errors.ts'
import { deno } from './deno.ts'
import { dotnet } from './dotnet.ts'
import { elixir } from './elixir.ts'
import { Files } from './files.ts'
import { go } from './go.ts'
import { java } from './java.ts'
import { node } from './node.ts'
import { php } from './php.ts'
import type { Plan, Rule, Settings } from './plan.ts'
import { python } from './python.ts'
import { ruby } from './ruby.ts'
import { rust } from './rust.ts'
import { site } from './sites.ts'

/**
 * A repository is of the first kind that knows it. What serves an app comes before package.json, which many
 * have for their front end only; plain files come last.
 */
const rules: Rule[] = [deno, php, ruby, python, elixir, go, rust, java, dotnet, node, site]

/** In characters, as scripts of a repository have any length. */
const maxReason = 300

export type Question = {
  /** Relative to the build's directory, each ended by NUL. */
  paths: string
  texts: [path: string, text: string][]
  settings: Settings
  buildVariables: string[]
}

/**
 * Recognises what a repository is, and writes its Dockerfile. A pure function of names and texts.
 *
 * @throws Failure `not_recognized`, `manifest_invalid`.
 */
export function detect({ paths, texts, ...options }: Question): Plan {
  const all = paths.split('\0').filter((path) => path !== '')
  const files = new Files(all, new Map(texts))
  for (const rule of rules) {
    const plan = rule.plan({ files, ...options })
    if (plan)
      return {
        ...plan,
        reasons: [...plan.reasons, ...unused(all)].map((reason) => reason.slice(0, maxReason)),
      }
  }
  throw notRecognized(all)
}

/** Names what is nearly it, else what was looked for. */
function notRecognized(paths: string[]) {
  const failure = (what: string, fix: string) => new Failure('not_recognized', what, fix)
  const dockerfile = paths.find((path) => isDockerfile.test(path))
  if (dockerfile !== undefined)
    return failure(
      `There is no Dockerfile at the top, but ${dockerfile}.`,
      'Set the Dockerfile in the project’s settings, or the context directory to its folder.',
    )
  const compose = paths.find((path) => /^(docker-)?compose\.ya?ml$/.test(path))
  if (compose !== undefined)
    return failure(
      `There is no Dockerfile, but ${compose}.`,
      'To run what it describes, paste it under Services, “Bring your own”. To deploy the repository as an app, add a Dockerfile to it.',
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

const isDockerfile = /(^|\/)(dockerfile|containerfile)([.-](?!dockerignore$)[^/]+)?$/i

/** A Dockerfile that isn't where one is looked for. */
function unused(paths: string[]) {
  const path = paths.find((path) => isDockerfile.test(path))
  return path === undefined ? [] : [`${path} isn’t used, as its path isn’t set`]
}

const isManifest = (path: string) =>
  rules.some(({ looksFor }) => looksFor.includes(path.slice(path.indexOf('/') + 1)))

import { AppError } from '../platform/errors.ts'
import { gitea } from './gitea.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'
import type { ProviderName } from './provider.ts'
import type { Push } from './push.ts'
import type { RepositoryNames } from './repository-names.ts'

const providers = { gitea, github, gitlab }

/** Commits of a push, of which no provider lists as many: of more, none is read. */
const maxCommits = 2500

/** Null when the object names no repository. Throws an AppError when the text is none. */
export const readNames = (provider: ProviderName, text: string): RepositoryNames | null =>
  providers[provider].readNames(parseObject(text))

/** Null when the object describes no push. A large one is read by `parse`. */
export function readPush(provider: ProviderName, text: string): Push | null {
  const payload = parseObject(text) as { commits?: unknown }
  if (Array.isArray(payload.commits) && payload.commits.length > maxCommits) delete payload.commits
  return providers[provider].readPush(payload)
}

function parseObject(text: string): object {
  try {
    return JSON.parse(text)
  } catch {
    throw new AppError('bad_request', 'The body is not JSON.') // or nested deeper than the stack
  }
}

import { AppError } from '../errors.ts'
import { gitea } from './gitea.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'
import type { ProviderName } from './provider.ts'
import type { Push } from './push.ts'
import type { RepositoryNames } from './repository-names.ts'

/** What is read of an event, before anything in it is believed. */
export type ProviderEvent = {
  /** Null when it names no repository. */
  names: RepositoryNames | null
  /** Null when it describes no push. */
  push: Push | null
}

const providers = { gitea, github, gitlab }

/** Reads the JSON object of an event; throws an AppError when the text is none. */
export function readEvent(provider: ProviderName, text: string): ProviderEvent {
  const payload = parseObject(text)
  const { readNames, readPush } = providers[provider]
  return { names: readNames(payload), push: readPush(payload) }
}

function parseObject(text: string): object {
  try {
    return JSON.parse(text)
  } catch {
    throw new AppError('bad_request', 'The body is not JSON.') // or nested deeper than the stack
  }
}

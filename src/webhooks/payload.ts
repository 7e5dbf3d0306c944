import { z } from 'zod'
import { isCommit } from '../git/ref-names.ts'
import { AppError } from '../platform/errors.ts'
import { parse } from '../platform/parse.ts'
import { membersIn } from './members.ts'
import type { ProviderName } from '../git/providers/registry.ts'
import type { Provider } from './provider.ts'
import type { Push } from './push.ts'
import { namesIn } from './repository-names.ts'
import type { RepositoryNames } from './repository-names.ts'
import { gitea } from './gitea.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'

/** In characters. It is read before the signature is checked; providers send a tenth of this. */
const maxRepository = 64 * 1024

/** In characters. Longer JSON is parsed on another thread. */
const maxHere = 16 * 1024

export type Payload = {
  /** Null when the body names no repository. */
  names: RepositoryNames | null
  /** Null when the body describes no push. Expensive: only call it for signed bodies. */
  readPush: () => Promise<Push | null>
  /** The commit whose checks the body is about; null when it names none. */
  readCommit: () => string | null
}

/** One of them has the commit. */
const checkMembers = ['check_run', 'check_suite', 'workflow_run', 'object_attributes', 'sha']

/** In characters, for one of them. */
const maxCheck = 128 * 1024

const hash = z.string().refine(isCommit)
const commitOfChecks = z.union([
  hash,
  z.object({ head_sha: hash }).transform(({ head_sha }) => head_sha),
  z.object({ sha: hash }).transform(({ sha }) => sha),
])

/** Reads only the members that are needed. */
export async function readPayload(provider: Provider, json: Buffer): Promise<Payload> {
  const { name, members, repository: keys } = provider
  const found = await membersIn(json, [...members, ...checkMembers])
  if (found === null) throw notAnEvent('The body isn’t a JSON object.')
  const repository = found.get(keys.member) ?? ''
  const isReadable = repository !== '' && repository.length <= maxRepository
  return {
    readCommit() {
      const texts = checkMembers.flatMap((member) => found.get(member) ?? [])
      for (const text of texts) {
        if (text.length > maxCheck) continue
        const { data } = commitOfChecks.safeParse(parseJson(text))
        if (data) return data.toLowerCase()
      }
      return null
    },
    names: isReadable ? namesIn(parseJson(repository), keys) : null,
    readPush() {
      const own = [...found].filter(([member]) => members.includes(member))
      const args: [typeof name, string] = [name, textOf(own)]
      if (args[1].length <= maxHere) return Promise.resolve(readPush(...args))
      return parse<typeof readPush>('readPush', args, {
        owner: 'webhooks',
        tooLong: () => unreadable,
      })
    },
  }
}

/** The error for a body that doesn't match the event in its headers. */
export const notAnEvent = (message: string) => new AppError('bad_request', message)

const unreadable = notAnEvent('The body took too long to read.')

const textOf = (members: Iterable<[name: string, value: string]>) =>
  `{${Array.from(members, ([name, value]) => `"${name}":${value}`).join(',')}}`

const providers = { gitea, github, gitlab }

/** More than any provider lists. With more, no commit is read. */
const maxCommits = 2500

/** Null when the object describes no push. Call it through `parse` for a long text. */
export function readPush(provider: ProviderName, text: string): Push | null {
  const payload = parseJson(text) as { commits?: unknown }
  if (Array.isArray(payload.commits) && payload.commits.length > maxCommits) delete payload.commits
  return providers[provider].readPush(payload)
}

function parseJson(text: string): object {
  try {
    return JSON.parse(text)
  } catch {
    throw new AppError('bad_request', 'The body isn’t JSON.') // or nested too deeply for the stack
  }
}

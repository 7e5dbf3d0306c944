import { AppError } from '../platform/errors.ts'
import { parse } from '../platform/parse.ts'
import { pause } from '../platform/pause.ts'
import { readField } from './form-field.ts'
import { MemberReader } from './members.ts'
import type { ProviderName } from '../git/providers/registry.ts'
import type { Provider } from './provider.ts'
import type { Push } from './push.ts'
import { namesIn } from './repository-names.ts'
import type { RepositoryNames } from './repository-names.ts'
import { gitea } from './gitea.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'

/** Bytes that are looked through at a time. */
const slice = 32 * 1024

/** Characters of a repository that is read before anyone has signed it: ten times what providers send. */
const maxRepository = 64 * 1024

/** Characters of JSON that are parsed at once here: more of it goes to another thread. */
const maxHere = 16 * 1024

type Sent = { body: Buffer; mediaType: string }

export type Payload = {
  /** Null when it names no repository. */
  names: RepositoryNames | null
  /** The push that it describes; null when it describes none. Costs more: for what was signed. */
  readPush: () => Promise<Push | null>
}

/** What a body says, as JSON or as JSON in the field `payload` of a form; members of no use are not read. */
export async function readPayload(provider: Provider, sent: Sent): Promise<Payload> {
  const found = await findMembers(provider, sent)
  const { name, repository: keys } = provider
  const repository = found.get(keys.member) ?? ''
  const isReadable = repository !== '' && repository.length <= maxRepository
  return {
    names: isReadable ? namesIn(parseJson(repository), keys) : null,
    readPush() {
      const args: [typeof name, string] = [name, textOf(found)]
      if (args[1].length <= maxHere) return Promise.resolve(readPush(...args))
      return parse({ readPush }, args, { owner: 'webhooks', tooLong: () => unreadable })
    },
  }
}

/** The body is not the event that its headers say it is. */
export const notAnEvent = (message: string) => new AppError('bad_request', message)

const unreadable = notAnEvent('The body took too long to read.')

const textOf = (members: Iterable<[name: string, value: string]>) =>
  `{${Array.from(members, ([name, value]) => `"${name}":${value}`).join(',')}}`

async function findMembers({ members }: Provider, { body, mediaType }: Sent) {
  const reader = new MemberReader(members)
  if (mediaType === 'application/json') {
    for (let at = 0; at < body.length; at += slice) {
      reader.push(body.subarray(at, at + slice))
      await pause()
    }
  } else {
    const take = (bytes: Uint8Array) => reader.push(bytes)
    if ((await readField(body, { name: 'payload', take })) !== 1)
      throw notAnEvent('The form has to have one field named payload.')
  }
  const found = reader.end()
  if (found === null) throw notAnEvent('The body is not a JSON object.')
  return found
}

const providers = { gitea, github, gitlab }

/** Commits of a push, of which no provider lists as many: of more, none is read. */
const maxCommits = 2500

/** Null when the object describes no push. A large one is read by `parse`. */
export function readPush(provider: ProviderName, text: string): Push | null {
  const payload = parseJson(text) as { commits?: unknown }
  if (Array.isArray(payload.commits) && payload.commits.length > maxCommits) delete payload.commits
  return providers[provider].readPush(payload)
}

function parseJson(text: string): object {
  try {
    return JSON.parse(text)
  } catch {
    throw new AppError('bad_request', 'The body is not JSON.') // or nested deeper than the stack
  }
}

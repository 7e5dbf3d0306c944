import { AppError } from '../platform/errors.ts'
import { parse } from '../platform/parse.ts'
import { pause } from '../platform/pause.ts'
import { readField, unwrapField } from './form-field.ts'
import { MemberReader } from './members.ts'
import type { ProviderName } from '../git/providers/registry.ts'
import { form } from './provider.ts'
import type { Provider } from './provider.ts'
import type { Push } from './push.ts'
import { namesIn } from './repository-names.ts'
import type { RepositoryNames } from './repository-names.ts'
import { gitea } from './gitea.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'

/** Bytes that are scanned at a time. */
const slice = 32 * 1024

/** Characters of a repository that is read before the signature is checked: ten times what providers send. */
const maxRepository = 64 * 1024

/** Characters of JSON that are parsed on this thread: more is parsed on another. */
const maxHere = 16 * 1024

type Sent = { body: Buffer; mediaType: string }

export type Payload = {
  /** Null when it names no repository. */
  names: RepositoryNames | null
  /** The push that it describes; null when none. Expensive: only for signed bodies. */
  readPush: () => Promise<Push | null>
}

/** Reads a body, as JSON or as JSON in the field `payload` of a form; unneeded members aren't read. */
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

/** A form whose field is signed as the JSON that it holds. */
export async function unwrapForm(provider: Provider, sent: Sent): Promise<Sent> {
  if (!provider.signsField || sent.mediaType !== form) return sent
  const body = await unwrapField(sent.body, 'payload')
  if (body === null) throw oddForm()
  return { body, mediaType: 'application/json' }
}

const oddForm = () => notAnEvent('The form must have one field named payload.')

/** The body doesn't match the event in its headers. */
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
    if ((await readField(body, { name: 'payload', take })) !== 1) throw oddForm()
  }
  const found = reader.end()
  if (found === null) throw notAnEvent('The body isn’t a JSON object.')
  return found
}

const providers = { gitea, github, gitlab }

/** Maximum commits of a push, more than any provider lists: if there are more, none is read. */
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
    throw new AppError('bad_request', 'The body isn’t JSON.') // or nested deeper than the stack
  }
}

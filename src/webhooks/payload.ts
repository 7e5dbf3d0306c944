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

/** Bytes that are scanned before other work may run. */
const slice = 32 * 1024

/** In characters. It is read before the signature is checked; providers send a tenth of this. */
const maxRepository = 64 * 1024

/** In characters. Longer JSON is parsed on another thread. */
const maxHere = 16 * 1024

type Sent = { body: Buffer; mediaType: string }

export type Payload = {
  /** Null when the body names no repository. */
  names: RepositoryNames | null
  /** Null when the body describes no push. Expensive: only call it for signed bodies. */
  readPush: () => Promise<Push | null>
}

/** Reads JSON, or a form whose field `payload` is JSON; only the members that are needed. */
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
      return parse<typeof readPush>('readPush', args, {
        owner: 'webhooks',
        tooLong: () => unreadable,
      })
    },
  }
}

/** Some providers sign the JSON in the form's field rather than the form. */
export async function unwrapForm(provider: Provider, sent: Sent): Promise<Sent> {
  if (!provider.signsField || sent.mediaType !== form) return sent
  const body = await unwrapField(sent.body, 'payload')
  if (body === null) throw oddForm()
  return { body, mediaType: 'application/json' }
}

const oddForm = () => notAnEvent('The form must have one field named payload.')

/** The error for a body that doesn't match the event in its headers. */
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

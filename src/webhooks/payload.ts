import { AppError } from '../errors.ts'
import { parse } from '../parse.ts'
import { pause } from '../pause.ts'
import { readField } from './form-field.ts'
import { MemberReader } from './members.ts'
import type { Provider } from './provider.ts'
import { readEvent } from './read-event.ts'
import type { ProviderEvent } from './read-event.ts'

/** Bytes that are looked through at a time. */
const slice = 32 * 1024

/** Characters of JSON that are parsed at once here: more of it goes to another thread. */
const maxHere = 16 * 1024

type Sent = { body: Buffer; mediaType: string }

/** What a body says, as JSON or as JSON in the field `payload` of a form; members of no use are not read. */
export async function readPayload(provider: Provider, sent: Sent): Promise<ProviderEvent> {
  const text = await wantedMembers(provider, sent)
  const args = [provider.name, text] as const
  if (text.length <= maxHere) return readEvent(...args)
  return parse('readEvent', [...args], { owner: 'webhooks', tooLong: () => unreadable })
}

/** The body is not the event that its headers say it is. */
export const notAnEvent = (message: string) => new AppError('bad_request', message)

const unreadable = notAnEvent('The body took too long to read.')

async function wantedMembers({ members }: Provider, { body, mediaType }: Sent) {
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
  const text = reader.end()
  if (text === null) throw notAnEvent('The body is not a JSON object.')
  return text
}

import { isUtf8 } from 'node:buffer'
import { AppError } from '../errors.ts'
import { withoutLargeMembers } from './large-json.ts'

/** Bytes of a body that is read whole; of a larger one its large members are left out. */
const maxWhole = 1024 * 1024

/** The object that a body holds as JSON, or as JSON in the field `payload` of a form. */
export function readPayload(body: Buffer, mediaType: string): object {
  const payload = parse(mediaType === 'application/json' ? jsonText(body) : payloadField(body))
  if (typeof payload === 'object' && payload !== null && !Array.isArray(payload)) return payload
  throw notAnEvent('The body is not a JSON object.')
}

/** The body is not the event that its headers say it is. */
export const notAnEvent = (message: string) => new AppError('bad_request', message)

function jsonText(body: Buffer) {
  if (body.length <= maxWhole) return decode(body)
  if (!isUtf8(body)) throw notUtf8()
  return withoutLargeMembers(body) ?? ''
}

function payloadField(body: Buffer) {
  const [payload, ...more] = new URLSearchParams(decode(body)).getAll('payload')
  if (payload === undefined || more.length > 0)
    throw notAnEvent('The form has to have one field named payload.')
  return payload
}

function decode(body: Buffer) {
  if (!isUtf8(body)) throw notUtf8()
  return body.toString()
}

const notUtf8 = () => notAnEvent('The body is not UTF-8.')

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw notAnEvent('The body is not JSON.') // or nested deeper than the stack
  }
}

import { isUtf8 } from 'node:buffer'
import { AppError } from '../errors.ts'
import { fieldValues } from './form-field.ts'
import { withoutLargeMembers } from './large-json.ts'

/** Bytes of a body that is read whole; of a larger one its large members are left out. */
const maxWhole = 1024 * 1024

/** The object that a body holds as JSON, or as JSON in the field `payload` of a form. */
export function readPayload(body: Buffer, mediaType: string): object {
  const json = mediaType === 'application/json' ? body : payloadField(body)
  const payload = parse(jsonText(json))
  if (typeof payload === 'object' && payload !== null && !Array.isArray(payload)) return payload
  throw notAnEvent('The body is not a JSON object.')
}

/** The body is not the event that its headers say it is. */
export const notAnEvent = (message: string) => new AppError('bad_request', message)

function payloadField(body: Buffer) {
  const [payload, ...more] = fieldValues(body, 'payload')
  if (payload === undefined || more.length > 0)
    throw notAnEvent('The form has to have one field named payload.')
  return payload
}

function jsonText(json: Buffer) {
  if (!isUtf8(json)) throw notAnEvent('The body is not UTF-8.')
  return json.length <= maxWhole ? json.toString() : (withoutLargeMembers(json) ?? '')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw notAnEvent('The body is not JSON.') // or nested deeper than the stack
  }
}

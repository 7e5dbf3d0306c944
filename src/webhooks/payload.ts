import { AppError } from '../errors.ts'

/** The object that a body holds as JSON, or as JSON in the field `payload` of a form. */
export function readPayload(body: Buffer, mediaType: string): object {
  const payload = parse(mediaType === 'application/json' ? decode(body) : payloadField(body))
  if (typeof payload === 'object' && payload !== null && !Array.isArray(payload)) return payload
  throw notAnEvent('The body is not a JSON object.')
}

/** The body is not the event that its headers say it is. */
export const notAnEvent = (message: string) => new AppError('bad_request', message)

function payloadField(body: Buffer) {
  const [payload, ...more] = new URLSearchParams(decode(body)).getAll('payload')
  if (payload === undefined || more.length > 0)
    throw notAnEvent('The form has to have one field named payload.')
  return payload
}

function decode(body: Buffer) {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw notAnEvent('The body is not UTF-8.')
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw notAnEvent('The body is not JSON.') // or nested deeper than the stack
  }
}

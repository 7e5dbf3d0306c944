import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { OpenApiDocument } from '../../src/api/document.ts'
import type { TestClient } from './client.ts'

/** The document as a program reads it. */
export async function readDocument(client: TestClient): Promise<OpenApiDocument> {
  const { status, text, json } = await client.get('/api/openapi.json')
  if (status !== 200) throw new Error(text)
  return json
}

type Responses = Record<string, { content?: Record<string, object>; $ref?: string }>

/** Compares what is sent and answered with the document; says what does not fit, else nothing. */
export function comparison(document: OpenApiDocument) {
  const ajv = new Ajv2020({ strict: true, allErrors: true, strictTypes: false })
  addFormats.default(ajv)
  ajv.addVocabulary(Object.keys(document))
  ajv.addSchema(document, 'document')

  return { bodyErrors, answerErrors }

  function bodyErrors(route: string, body: unknown) {
    const { at, operation } = find(route)
    if (!operation.requestBody) return body === undefined ? [] : ['no body is documented']
    return errorsOf([...at, 'requestBody', 'content', 'application/json', 'schema'], body)
  }

  /** Of a stream, the data of an event is compared. */
  function answerErrors(route: string, { status, type, body }: Answered) {
    const { at, operation } = find(route)
    const responses: Responses = operation.responses
    const found = [String(status), `${Math.floor(status / 100)}XX`].find((key) => responses[key])
    if (!found) return [`the status ${status} is not documented`]
    const { $ref } = responses[found]!
    const place = $ref ? $ref.slice(2).split('/') : [...at, 'responses', found]
    const { content } = place.reduce((value: any, key) => value[key], document)
    if (!content[type]) return [`${type} is not documented`]
    if (type === 'text/plain') return typeof body === 'string' ? [] : ['no text']
    const key = type === 'text/event-stream' ? 'x-event-data' : 'schema'
    return errorsOf([...place, 'content', type, key], body)
  }

  function find(route: string) {
    const [method = '', path = ''] = route.toLowerCase().split(' ')
    const same = (one: string) => one.toLowerCase().replace(/\{\w+\}|:\w+/g, '{}')
    const template = Object.keys(document.paths).find((one) => same(one) === same(path))
    const operation = document.paths[template ?? '']?.[method]
    if (!operation) throw new Error(`${route} is not documented`)
    return { at: ['paths', template!, method], operation }
  }

  function errorsOf(place: string[], value: unknown) {
    const pointer = place.map((key) => key.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
    const check = ajv.compile({ $ref: `document#/${encodeURI(pointer)}` })
    check(value)
    return (check.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    )
  }
}

export type Answered = { status: number; type: string; body: unknown }

/** Reads an answer; of a stream the first event that has data in JSON. */
export async function answered(response: Response): Promise<Answered> {
  const { status } = response
  const type = response.headers.get('Content-Type')?.split(';')[0] ?? ''
  if (type !== 'text/event-stream') {
    const text = await response.text()
    return { status, type, body: type.endsWith('json') ? JSON.parse(text) : text }
  }
  let text = ''
  const decoder = new TextDecoder()
  for await (const bytes of response.body!) {
    text += decoder.decode(bytes, { stream: true })
    const [, data] = /^data: ([[{].*)\n\n/m.exec(text) ?? []
    if (data) return { status, type, body: JSON.parse(data) }
  }
  throw new Error(`The stream had no event: ${text}`)
}

import type { RouterRoute } from 'hono/types'
import { version } from '../platform/root.ts'
import { hostCookie } from '../web/cookies.ts'
import { accessOf, callsOf } from './calls.ts'
import type { Call } from './calls.ts'
import type { Operation } from '../web/operation.ts'
import { problemSchema } from '../web/problem.ts'
import { parts } from './operations.ts'
import type { JsonSchema } from '../web/json-schema.ts'
import { z } from 'zod'
import type { ZodType } from 'zod'
import { asSent } from '../web/json-schema.ts'
import { components } from '../web/operation.ts'

export type OpenApiDocument = ReturnType<typeof openApiDocument>

/**
 * The OpenAPI 3.1 document of the API. Parameters and permissions are read
 * from the handlers of each route, so they match what is checked.
 */
export function openApiDocument(routes: RouterRoute[], { server }: { server: string }) {
  const calls = callsOf(routes)
  const answers = calls.flatMap(({ operation: { answers, event } }) =>
    [...Object.values(answers), event].filter((schema) => !!schema),
  )
  const sent = calls.flatMap(({ body, query }) => [body, query].filter((schema) => !!schema))
  const output = jsonSchemas([problemSchema(), ...answers], { io: 'output' })
  const input = jsonSchemas(sent, { io: 'input' })
  const written = new Map([...output.written, ...input.written])
  return {
    openapi: '3.1.0',
    info: {
      title: 'Davit',
      version,
      description:
        'Send Accept: application/json and an API token as Authorization: Bearer. Refusals are problem+json (RFC 9457). A form may send the same names in snake_case.',
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'The API of this server', url: `${server}/api` },
    },
    servers: [{ url: server }],
    tags: Object.entries(parts).map(([name, description]) => ({ name, description })),
    paths: pathsOf(calls, written),
    components: {
      schemas: output.components,
      responses: {
        Refused: {
          description: 'Refused, with the reason',
          headers: { 'Retry-After': { schema: { type: 'integer' } } },
          content: { 'application/problem+json': { schema: written.get(problemSchema()) } },
        },
      },
      securitySchemes: securitySchemes(server),
    },
  }
}

/** Paths that differ only in parameter names become one path, with the names of the first. */
function pathsOf(calls: Call[], written: Map<unknown, JsonSchema>) {
  const paths: Record<string, Record<string, ReturnType<typeof describe>>> = {}
  const templates = new Map<string, string>()
  for (const call of calls) {
    const own = call.path.replace(/:(\w+)/g, '{$1}')
    const path = templates.getOrInsert(own.replace(/\{\w+\}/g, '{}'), own)
    paths[path] = { ...paths[path], [call.method.toLowerCase()]: describe(call, path, written) }
  }
  return paths
}

function describe(call: Call, path: string, written: Map<unknown, JsonSchema>) {
  const { tag, operation, body, query } = call
  const bodySchema = body && written.get(body)
  const access = accessOf(call)
  return {
    tags: [tag],
    summary: operation.summary,
    description: access.said,
    operationId: `${call.method.toLowerCase()}${call.path.replace(/[/:.-]+(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
    security: access.security,
    parameters: [...pathParameters(path), ...queryParameters(query && written.get(query))],
    ...(bodySchema && {
      requestBody: {
        required: !!bodySchema.required?.length,
        content: { 'application/json': { schema: bodySchema } },
      },
    }),
    ...(operation.archive && { requestBody: archiveBody }),
    responses: { ...answersOf(operation, written), '4XX': refused, '5XX': refused },
  }
}

const archiveBody = {
  required: true,
  content: Object.fromEntries(
    ['application/gzip', 'application/zstd', 'application/x-tar'].map((type) => [
      type,
      { schema: {} as JsonSchema },
    ]),
  ),
}

const refused = { $ref: '#/components/responses/Refused' }

const pathParameters = (path: string) =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name: name!,
    in: 'path',
    required: true,
    schema: { type: 'string' } as JsonSchema,
  }))

const queryParameters = ({ properties = {}, required = [] }: JsonSchema = {}) =>
  Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema: schema as JsonSchema,
  }))

const said: Record<string, string> = {
  200: 'Done',
  201: 'Created',
  202: 'Accepted; the work continues',
  503: 'Not ready',
}

function answersOf(
  { answers, event, file, texts = [] }: Operation,
  written: Map<unknown, JsonSchema>,
) {
  const text = { schema: { type: 'string' } }
  const others = {
    ...(event && { 'text/event-stream': { ...text, 'x-event-data': written.get(event) } }),
    ...(file && { 'text/plain': text }),
    ...Object.fromEntries(texts.map((type) => [type, text])),
  }
  return Object.fromEntries(
    Object.keys({ ...answers, ...((event || texts.length > 0) && { 200: event }) }).map(
      (status) => [
        status,
        {
          description: said[status],
          ...(/20[12]/.test(status) && { headers: { Location: text } }),
          content: {
            ...(answers[status] && {
              'application/json': { schema: written.get(answers[status]) },
            }),
            ...(status === '200' && others),
          },
        },
      ],
    ),
  )
}

const securitySchemes = (server: string) => ({
  token: { type: 'http', scheme: 'bearer', bearerFormat: 'dvt_…' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: hostCookie('svc_session', { isSecure: server.startsWith('https:') }),
  },
  csrf: {
    type: 'apiKey',
    in: 'header',
    name: 'X-CSRF-Token',
    description:
      'The value of the cookie svc_csrf, which any response sets, and the cookie itself.',
  },
  github: { type: 'apiKey', in: 'header', name: 'X-Hub-Signature-256' },
  gitlab: { type: 'apiKey', in: 'header', name: 'X-Gitlab-Token' },
  gitea: { type: 'apiKey', in: 'header', name: 'X-Gitea-Signature' },
})

/**
 * Converts schemas to JSON Schema, with references to the document's components for resources. Bodies
 * and queries are described for programs: numbers, flags and lists have their JSON types.
 */
function jsonSchemas(schemas: ZodType[], { io }: { io: 'input' | 'output' }) {
  const all = z.object({ ...schemas })
  const text = JSON.stringify(
    z.toJSONSchema(all, { io, metadata: components, unrepresentable: 'any', override: asSent }),
  ).replaceAll('#/$defs/', '#/components/schemas/')
  const { properties = {}, $defs = {} } = JSON.parse(text) as JsonSchema
  return {
    written: new Map(schemas.map((schema, at) => [schema, properties[at] as JsonSchema])),
    components: $defs,
  }
}

export const jsonSchemaOf = (schema: ZodType) =>
  jsonSchemas([schema], { io: 'input' }).written.get(schema)!

import { z } from 'zod'
import { version } from '../platform/root.ts'
import type { Operation } from './operation.ts'
import { problem } from './resources.ts'

/** The OpenAPI 3.1 document of the operations, whose schemas are those that check the requests. */
export const openApiDocument = (operations: Operation[], { server }: { server: string }) => ({
  openapi: '3.1.0',
  info: {
    title: 'Davit',
    version,
    description:
      'Send Accept: application/json and an API token as Authorization: Bearer. Refusals are problem+json (RFC 9457).',
  },
  servers: [{ url: server }],
  security: [{ token: [] }],
  paths: pathsOf(operations),
  components: {
    securitySchemes: { token: { type: 'http', scheme: 'bearer', bearerFormat: 'dvt_…' } },
    schemas: { Problem: schemaOf(problem) },
  },
})

function pathsOf(operations: Operation[]) {
  const paths: Record<string, Record<string, object>> = {}
  for (const operation of operations) {
    const path = operation.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [operation.method]: describe(operation) }
  }
  return paths
}

function describe({
  tag,
  method,
  path,
  summary,
  query,
  body,
  answer,
  created,
  streams,
}: Operation) {
  const ok = created ? '201' : '200'
  const schema = answer ? schemaOf(answer) : { type: 'object' }
  return {
    tags: [tag],
    summary,
    operationId: `${method}${path.replace(/[/:.-]+(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
    parameters: [...pathParameters(path), ...(query ? queryParameters(query) : [])],
    ...(body && {
      requestBody: { required: true, content: { 'application/json': { schema: schemaOf(body) } } },
    }),
    responses: {
      [ok]: {
        description: created ? 'Created' : 'Done',
        ...(created && { headers: { Location: { schema: { type: 'string' } } } }),
        content: {
          'application/json': { schema },
          ...(streams && { 'text/event-stream': { schema: { type: 'string' } } }),
        },
      },
      default: {
        description: 'Refused',
        content: {
          'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
        },
      },
    },
  }
}

const pathParameters = (path: string) =>
  [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))

function queryParameters(query: z.ZodType) {
  const { properties = {}, required = [] } = schemaOf(query)
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
}

/**
 * What comes out of the check stands for what goes in, as a number in a form may come as digits;
 * where the check makes something else of it, what goes in.
 */
export function schemaOf(schema: z.ZodType) {
  const { $schema: _, ...output } = toJson(schema, 'output')
  return Object.keys(output).length > 0 ? output : toJson(schema, 'input')
}

const toJson = (schema: z.ZodType, io: 'input' | 'output') =>
  z.toJSONSchema(schema, { io, unrepresentable: 'any' })

import { z } from 'zod'
import type { ZodType } from 'zod'
import { asSent } from '../web/json-schema.ts'
import type { JsonSchema } from '../web/json-schema.ts'
import { components } from '../web/operation.ts'

/**
 * Converts schemas to JSON Schema, with references to the document's components for resources. Bodies
 * and queries are described for programs: numbers, flags and lists have their JSON types.
 */
export function jsonSchemas(schemas: ZodType[], { io }: { io: 'input' | 'output' }) {
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

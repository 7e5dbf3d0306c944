import { z } from 'zod'
import type { ZodType } from 'zod'
import { components } from '../web/operation.ts'
import { labelOf, lookOf } from '../web/schema-fields.tsx'

export type JsonSchema = z.core.JSONSchema.BaseSchema

/** Describes values before validation transforms them. A format replaces its pattern. */
function asSent({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: JsonSchema }) {
  if (jsonSchema.format) delete jsonSchema.pattern
  const look = lookOf(zodSchema)
  const hint = typeof look?.hint === 'string' ? `. ${look.hint}` : ''
  if (look) jsonSchema.description = `${labelOf(look)}${hint}`
  const { sentAs } = z.globalRegistry.get(zodSchema) ?? {}
  if (!sentAs) return
  for (const key of Object.keys(jsonSchema)) delete jsonSchema[key]
  Object.assign(jsonSchema, sentAs)
}

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

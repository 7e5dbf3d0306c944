import { z } from 'zod'
import { labelOf, lookOf } from './schema-fields.tsx'

export type JsonSchema = z.core.JSONSchema.BaseSchema

/** Describes values before validation transforms them. A format replaces its pattern. */
export function asSent({
  zodSchema,
  jsonSchema,
}: {
  zodSchema: z.core.$ZodType
  jsonSchema: JsonSchema
}) {
  if (jsonSchema.format) delete jsonSchema.pattern
  const look = lookOf(zodSchema)
  const hint = typeof look?.hint === 'string' ? `. ${look.hint}` : ''
  if (look) jsonSchema.description = `${labelOf(look)}${hint}`
  const { sentAs } = z.globalRegistry.get(zodSchema) ?? {}
  if (!sentAs) return
  for (const key of Object.keys(jsonSchema)) delete jsonSchema[key]
  Object.assign(jsonSchema, sentAs)
}

import { z } from 'zod'
import type { ZodType } from 'zod'
import { eitherOf } from './labelled-fields.ts'
import { field, kindOf, objectOf, objectsOf } from './schema-fields.tsx'

type Shape = z.ZodRawShape

/** What is said of a kind, and the fields that it has besides those of all. */
type Kinds = Record<string, { label: string; adminOnly?: boolean; fields: Shape }>

type Output<Common extends Shape, All extends Kinds> = {
  [Kind in keyof All & string]: z.output<z.ZodObject<Common & All[Kind]['fields']>> & { kind: Kind }
}[keyof All & string]

/** A form whose fields depend on its `kind`; those of other kinds are refused. */
export const kindForm = <Common extends Shape, All extends Kinds>(common: Common, kinds: All) =>
  z.discriminatedUnion(
    'kind',
    Object.entries(kinds).map(([kind, { fields, ...look }]) =>
      z.object({ kind: field(z.literal(kind), look), ...common, ...fields }),
    ) as never,
    `must be ${eitherOf(kinds)}.`,
  ) as unknown as ZodType<Output<Common, All>>

/** What was sent for fields that only other kinds have, as issues. */
export function misplaced(schema: ZodType, data: Record<string, unknown>) {
  if (!(schema instanceof z.ZodDiscriminatedUnion)) return []
  const objects = objectsOf(schema)
  const own = objectOf(schema, data.kind)
  const others = new Set(objects.flatMap(({ shape }) => Object.keys(shape)))
  return Object.entries(data)
    .filter(([name, value]) => value != null && others.has(name) && !(name in own.shape))
    .map(([name]) => ({ path: [name], message: `isn’t a field of the kind ${kindOf(own)}.` }))
}

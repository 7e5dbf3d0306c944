import { z } from 'zod'
import type { ZodType } from 'zod'
import type { Config } from '../config.ts'
import { eitherOf } from './labelled-fields.ts'
import { field, kindOf, objectOf, objectsOf } from './schema-fields.tsx'

type Shape = z.ZodRawShape
type Allowed = Pick<Config, 'allowHosts'>

/** What is said of a kind, and the fields that it has besides those of all. */
type Kind = { label: string; adminOnly?: boolean; fields: (config: Allowed) => Shape }
type Kinds = Record<string, Kind>

type Output<First extends Shape, All extends Kinds, Last extends Shape> = {
  [Name in keyof All & string]: z.output<
    z.ZodObject<First & ReturnType<All[Name]['fields']> & Last>
  > & { kind: Name }
}[keyof All & string]

/** A form whose fields depend on its `kind`, between those of all; those of other kinds are refused. */
export const kindForm = <First extends Shape, All extends Kinds, Last extends Shape>(
  config: Allowed,
  first: First,
  kinds: All,
  last: Last = {} as Last,
) =>
  z.discriminatedUnion(
    'kind',
    Object.entries(kinds).map(([kind, { label, adminOnly = false, fields }]) =>
      z.object({
        kind: field(z.literal(kind), { label, adminOnly }),
        ...{ ...first, ...fields(config), ...last },
      }),
    ) as never,
    `must be ${eitherOf(kinds)}.`,
  ) as unknown as ZodType<Output<First, All, Last>>

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

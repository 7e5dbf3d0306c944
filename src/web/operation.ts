import { z } from 'zod'
import type { ZodType } from 'zod'

/** Documents one API call. Query, body and permissions are those that its route checks. */
export type Operation = {
  summary: string
  /** The JSON of the responses, by status. */
  answers: Record<string, ZodType>
  /** The body, if the route validates it by itself. */
  body?: ZodType
  /** The data of a server-sent event, if it can be followed. */
  event?: ZodType
  /** True when the body is a tar archive. */
  archive?: boolean
  /** True when it is also available as a text file. */
  file?: boolean
  /** The types of its text, if it has no JSON. */
  texts?: string[]
}

/** By method and path, as the routes write them, in the order of the document. */
type Operations = Record<`${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`, Operation>

/** Of a slice, by the tag in the document. Only called for the document: its schemas take memory. */
export type SliceOperations = () => Record<string, Operations>

/** The names under which schemas are components of the document. */
export const components = z.registry<{ id: string }>()

/** Declares what is returned, under its name in the document. It is built when it is first needed. */
export function component<Schema extends ZodType>(name: string, build: () => Schema): () => Schema {
  let built: Schema | undefined
  return () => {
    if (!built) components.add((built = build()), { id: name })
    return built
  }
}

/** The same for an object, by its fields. */
export const componentOf = <Shape extends z.ZodRawShape>(name: string, shape: () => Shape) =>
  component(name, () => z.object(shape()))

/** As JSON.stringify gets it: times are dates. */
type Sent<Value> = Value extends string
  ? Value | Date
  : Value extends readonly (infer One)[]
    ? readonly Sent<One>[]
    : Value extends object
      ? { [Key in keyof Value]: Sent<Value[Key]> }
      : Value

/** Keeps the fields of the schema, so that no secret slips in. */
export function shown<Schema extends z.ZodObject, Row extends Sent<z.input<Schema>>>(
  schema: () => Schema,
  row: Row,
) {
  const kept = Object.keys(schema().shape) as (keyof z.input<Schema> & keyof Row)[]
  return Object.fromEntries(kept.map((key) => [key, row[key]])) as Pick<Row, (typeof kept)[number]>
}

export const id = z.uuid()
export const time = z.iso.datetime()

/** The response without content. */
export const nothing = z.object({})

/** The failure of a job, and the step where it happened. */
export const jobFailure = () =>
  z.object({
    step: z.string().nullable(),
    code: z.string(),
    message: z.string(),
    hint: z.string().nullable(),
  })

/** What is deleted together with its owner. */
export const removal = component('Removal', () =>
  z.object({ removed: z.array(z.object({ kind: z.string(), name: z.string() })) }),
)

/** A page of a list; the cursor requests the next one. */
export const listOf = (item: ZodType) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable() })

type Details = Omit<Operation, 'summary' | 'answers'>

export const does = (summary: string, answer: ZodType, details: Details = {}) => ({
  summary,
  answers: { 200: answer },
  ...details,
})

export const lists = (summary: string, item: ZodType) => does(summary, listOf(item))

export const creates = (summary: string, answer: ZodType) => ({ summary, answers: { 201: answer } })

/** Long work: the response waits for a while, then it is 202 and the work continues. */
export const works = (summary: string, answer: ZodType) => ({
  summary,
  answers: { 200: answer, 202: answer },
})

/** Lines: a page of them, all as a text file, or new ones as they arrive, if they have an event. */
export const reads = (summary: string, lines: ZodType, event?: ZodType): Operation =>
  does(summary, lines, { file: true, ...(event && { event }) })

/** A stream that can only be followed. */
export const follows = (summary: string, event: ZodType): Operation => ({
  summary,
  answers: {},
  event,
})

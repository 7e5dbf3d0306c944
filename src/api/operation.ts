import type { ZodType } from 'zod'
import { listOf } from './resources.ts'

/** One call that programs can make. */
export type Operation = {
  tag: string
  method: 'get' | 'post' | 'put' | 'delete'
  /** As the route writes it, with `:id`. */
  path: string
  summary: string
  query?: ZodType
  body?: ZodType
  /** Of the answer's JSON; none: an empty object. */
  answer?: ZodType
  /** A creation answers 201 with `Location`. */
  created?: boolean
  /** Other kinds of answer than JSON. */
  streams?: boolean
}

type Details = Omit<Operation, 'tag' | 'method' | 'path' | 'summary'>

/** Makes the operations of one part of the product. */
export function operationsOf(tag: string) {
  const on =
    (method: Operation['method']) =>
    (path: string, summary: string, details: Details = {}): Operation => ({
      tag,
      method,
      path,
      summary,
      ...details,
    })
  return {
    get: on('get'),
    post: on('post'),
    put: on('put'),
    remove: on('delete'),
    list: (path: string, summary: string, item: ZodType, query: ZodType) =>
      on('get')(path, summary, { query, answer: listOf(item) }),
  }
}

import { z } from 'zod'
import type { ZodType } from 'zod'
import type { tokenScopes } from '../accounts/token-store.ts'
import { listOf } from './resources.ts'

/**
 * One call that programs can make: what its route does not say by itself. Its query, its body and who
 * may call it are those that the route checks.
 */
export type Operation = {
  summary: string
  /** The JSON of the answers, by status. */
  answers: Record<string, ZodType>
  /** What is sent, where the route checks it by itself. */
  body?: ZodType
  /** The data of a server-sent event, where it can be followed. */
  event?: ZodType
  /** It can be had as a text file. */
  file?: boolean
  /** What a token needs, where it is more than the route's method says. */
  scope?: (typeof tokenScopes)[number]
}

/** By method and path, as the routes write them, in the order of the document. */
export type Operations = Record<`${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`, Operation>

/** The answer where there is no more to say. */
export const nothing = z.object({})

type Details = Omit<Operation, 'summary' | 'answers'>

export const does = (summary: string, answer: ZodType, details: Details = {}) => ({
  summary,
  answers: { 200: answer },
  ...details,
})

export const lists = (summary: string, item: ZodType) => does(summary, listOf(item))

export const creates = (summary: string, answer: ZodType) => ({ summary, answers: { 201: answer } })

/** What can take long: the answer waits for a while, then it is 202 and the work continues. */
export const works = (summary: string, answer: ZodType) => ({
  summary,
  answers: { 200: answer, 202: answer },
})

/** Lines: a page of them, all as a text file, or those that come, where they have an event. */
export const reads = (summary: string, lines: ZodType, event?: ZodType): Operation =>
  does(summary, lines, { file: true, ...(event && { event }) })

/** What can only be followed. */
export const follows = (summary: string, event: ZodType): Operation => ({
  summary,
  answers: {},
  event,
})

import { COMPOSED_HANDLER } from 'hono/utils/constants'
import { findTargetHandler } from 'hono/utils/handler'
import type { ZodType } from 'zod'

/** The parts of a request that a handler checks, each against one schema. */
export type Checks = { body?: ZodType; query?: ZodType }

const known = new WeakMap<object, Checks>()

/** Remembers what a handler checks: the API document is made from it. */
export function checking<Handler extends object>(checks: Checks, handler: Handler) {
  known.set(handler, checks)
  return handler
}

/** What a handler checks, or the one that it was made from. */
export const checksOf = (handler: object): Checks => known.get(originalOf(handler)) ?? {}

/** The handler itself, where a route has another one made from it. */
export const originalOf = (handler: object): object => findTargetHandler(handler as never)

/** Marks a handler as made from another one, as Hono marks its own. */
export const madeFrom = <Handler extends object>(original: object, handler: Handler) =>
  Object.assign(handler, { [COMPOSED_HANDLER]: original })

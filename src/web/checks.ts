import { COMPOSED_HANDLER } from 'hono/utils/constants'
import { findTargetHandler } from 'hono/utils/handler'
import type { ZodType } from 'zod'

/** The parts of a request that a handler checks, each against one schema. */
export type Checks = {
  body?: ZodType
  query?: ZodType
}

const known = new WeakMap<object, Checks>()

/** Records the checks of a handler, from which the API document is generated. */
export function checking<Handler extends object>(checks: Checks, handler: Handler) {
  known.set(handler, checks)
  return handler
}

/** The checks of a handler, or of the one it was derived from. */
export const checksOf = (handler: object): Checks => known.get(originalOf(handler)) ?? {}

/** The original handler, if a route has a derived one. */
export const originalOf = (handler: object): object => findTargetHandler(handler as never)

/** Marks a handler as derived from another one, like Hono does. */
export const madeFrom = <Handler extends object>(original: object, handler: Handler) =>
  Object.assign(handler, { [COMPOSED_HANDLER]: original })

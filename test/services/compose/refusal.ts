import { AppError } from '../../../src/platform/errors.ts'

/** The refusal's sentence; fails when there is none, or when it is a bug instead. */
export function refusalOf(call: () => unknown): string {
  try {
    call()
  } catch (error) {
    if (error instanceof AppError) return error.message
    throw error
  }
  throw new Error('It was not refused.')
}

import { conflictField } from '../platform/errors.ts'

/** By the columns of a unique index, as SQLite lists them: the field at fault, and what to do. */
export type Duplicates = Record<string, [field: string, message: string]>

/** Writes, and refuses a duplicate in one of these indexes as a conflict on its field. */
export function refuseDuplicate<Result>(write: () => Result, refused: Duplicates): Result {
  try {
    return write()
  } catch (error) {
    const columns = /^UNIQUE constraint failed: (.+)$/.exec((error as Error).message)?.[1]
    const refusal = columns && refused[columns]
    throw refusal ? conflictField(...refusal) : error
  }
}

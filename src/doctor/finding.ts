import { Failure } from '../errors.ts'

/** One thing that was looked at: well, or with the next move. */
export type Finding = { what: string; is: string; todo: string | null }

export const ok = (what: string, is: string): Finding => ({ what, is, todo: null })

export const wrong = (what: string, is: string, todo: string): Finding => ({ what, is, todo })

/** What a look found; a Failure is a finding too. */
export async function look(
  what: string,
  work: () => Promise<Finding[]> | Finding[],
): Promise<Finding[]> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return [wrong(what, error.message, error.hint)]
  }
}

import { Failure } from '../platform/errors.ts'
import { within } from '../web/within.ts'

/** One thing that was looked at: well, or with the next move. */
export type Finding = { what: string; is: string; todo: string | null }

export const ok = (what: string, is: string): Finding => ({ what, is, todo: null })

export const wrong = (what: string, is: string, todo: string): Finding => ({ what, is, todo })

/** Milliseconds after which nothing is waited for anymore: what hangs is a finding too. */
const patience = 30_000

/** What a look found; a Failure is a finding too. */
export async function look(
  what: string,
  work: () => Promise<Finding[]> | Finding[],
  { atMost = patience } = {},
): Promise<Finding[]> {
  try {
    const found = await within(atMost, Promise.resolve(work()))
    return found ?? [wrong(what, `no answer within ${atMost / 1000} seconds`, todoOfHang)]
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return [wrong(what, error.message, error.hint)]
  }
}

const todoOfHang = 'Something that Davit needs does not respond: see the log of the system.'

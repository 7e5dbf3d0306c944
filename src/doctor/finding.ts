import { Failure } from '../platform/errors.ts'
import { within } from '../platform/pause.ts'

/** The result of one check: fine if `todo` is null, else with what to do. */
export type Finding = { what: string; is: string; todo: string | null }

export const ok = (what: string, is: string): Finding => ({ what, is, todo: null })

export const wrong = (what: string, is: string, todo: string): Finding => ({ what, is, todo })

export const dayOf = (time: Date) => time.toISOString().slice(0, 10)

/** The output of `davit doctor --json`, which other programs read. */
export const findingJson = ({ what, is, todo }: Finding) => ({
  name: what,
  status: todo === null ? ('ok' as const) : ('to_do' as const),
  finding: is,
  fix: todo,
})

/** Milliseconds after which a check is abandoned: hanging is a finding too. */
const timeoutMs = 30_000

export async function runCheck(
  what: string,
  work: () => Promise<Finding[]> | Finding[],
  { atMost = timeoutMs } = {},
): Promise<Finding[]> {
  try {
    const found = await within(atMost, Promise.resolve(work()))
    return found ?? [wrong(what, `no response within ${atMost / 1000} seconds`, todoOfHang)]
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return [wrong(what, error.message, error.hint)]
  }
}

const todoOfHang = 'Something that Davit needs doesn’t respond: see the system log.'

import type { Freeze } from '../environments/freeze-store.ts'
import type { Environment } from '../environments/store.ts'
import { AppError } from '../platform/errors.ts'

/** What someone asks for in a freeze needs a note, if they may pass it at all. */
export class Frozen extends AppError {
  constructor(
    readonly environment: Environment,
    readonly freeze: Freeze,
    mayPass = true,
  ) {
    const todo = mayPass ? ', or send a note that says why it can’t wait.' : '.'
    const message = `${environment.name} is frozen until ${inUtc(freeze.until)} (${freeze.reason}). Deploy afterwards${todo}`
    super('conflict', message, { fields: mayPass ? [{ field: 'note', message }] : [] })
  }
}

export const inUtc = (at: Date) => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`

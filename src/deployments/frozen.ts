import type { Freeze } from '../environments/freeze-store.ts'
import type { Environment } from '../environments/store.ts'
import { AppError } from '../platform/errors.ts'

/** What someone asks for in a freeze needs a note. */
export class Frozen extends AppError {
  constructor(
    readonly environment: Pick<Environment, 'id' | 'projectId' | 'name'>,
    readonly freeze: Freeze,
  ) {
    const message = `${environment.name} is frozen until ${inUtc(freeze.until)} (${freeze.reason}). Deploy afterwards, or send a note that says why it can’t wait.`
    super('conflict', message, { fields: [{ field: 'note', message }] })
  }
}

export const inUtc = (at: Date) => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`

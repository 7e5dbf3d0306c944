import { existsSync, writeFileSync } from 'node:fs'
import type { Failure } from '../platform/errors.ts'
import type { Forwarder } from './forwarders.ts'
import type { Mode } from './edge.ts'

/** Written to a file in the edge's folder, for `davit doctor`, which is another process. */
export type EdgeNote = {
  mode: Mode
  troubles: { message: string; hint: string }[]
  forwarders: Forwarder[]
}

export const notePath = (folder: string) => `${folder}/state.json`

/** Each once. */
export const troublesIn = (failures: (Failure | null)[]) =>
  [...new Set(failures)].flatMap((one) => (one ? { message: one.message, hint: one.hint } : []))

/** Writes it when it has changed. */
export class EdgeNotes {
  #written = ''

  write(folder: string, note: EdgeNote) {
    const text = JSON.stringify(note)
    if (text === this.#written || !existsSync(folder)) return
    try {
      writeFileSync(notePath(folder), text, { mode: 0o600 })
      this.#written = text
    } catch {
      // the disk is probably full; the next check tries again
    }
  }
}

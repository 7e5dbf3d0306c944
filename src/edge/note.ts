import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Failure } from '../platform/errors.ts'
import type { Forwarder } from './forwarders.ts'
import type { Edge, Mode } from './edge.ts'

/** Written to a file in the edge's folder, for `davit doctor`, which is another process, and for the next one. */
export type EdgeNote = {
  mode: Mode
  troubles: { message: string; hint: string }[]
  forwarders: Forwarder[]
}

export const notePath = (folder: string) => `${folder}/state.json`

/** Null before it was written. */
export function readNote(folder: string): EdgeNote | null {
  try {
    return JSON.parse(readFileSync(notePath(folder), 'utf8'))
  } catch {
    return null
  }
}

/** False when there was no edge, or there never was one. */
export const wasOn = (folder: string) => (readNote(folder)?.mode ?? 'direct') !== 'direct'

/** Each once. */
const troublesIn = (failures: (Failure | null)[]) =>
  [...new Set(failures)].flatMap((one) => (one ? { message: one.message, hint: one.hint } : []))

type Noted = Pick<Edge, 'folder' | 'mode' | 'rejected' | 'trouble' | 'others' | 'forwarders'>

function noteOf({ mode, rejected, trouble, others, forwarders }: Noted): EdgeNote {
  const own = troublesIn([...rejected.map(({ failure }) => failure), trouble])
  return { mode, troubles: [...own, ...(others?.troubles() ?? [])], forwarders: forwarders.list() }
}

/** Writes it when it has changed. */
export class EdgeNotes {
  #written = ''

  write(edge: Noted) {
    const text = JSON.stringify(noteOf(edge))
    if (text === this.#written || !existsSync(edge.folder)) return
    try {
      writeFileSync(notePath(edge.folder), text, { mode: 0o600 })
      this.#written = text
    } catch {
      // the disk is probably full; the next check tries again
    }
  }
}

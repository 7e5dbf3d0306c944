import type { Deps } from '../deps.ts'
import { Failure } from '../errors.ts'
import { within } from '../web/within.ts'

export type EngineLook = { ok: boolean; detail: string }

/** Milliseconds that a page waits for the engine before it says that it does not answer. */
const patience = 1000

/** Milliseconds for which one look serves all pages. */
const fresh = 1000

/** Whether the engine answers, looked at once a second however many ask. */
export function engineLooks(docker: Deps['docker']): () => Promise<EngineLook> {
  let last: { look: Promise<EngineLook>; until: number } | null = null
  return function lookAtEngine() {
    const now = performance.now()
    if (!last || now >= last.until) last = { look: look(docker), until: now + fresh }
    return last.look
  }
}

async function look(docker: Deps['docker']): Promise<EngineLook> {
  try {
    const info = await within(patience, docker.info())
    if (info) return { ok: true, detail: `Docker Engine ${info.version}` }
    return { ok: false, detail: 'The Docker Engine takes long to answer. Nothing can be deployed.' }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { ok: false, detail: `${error.message} ${error.hint}` }
  }
}

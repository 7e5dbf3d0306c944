import type { Docker } from '../docker/index.ts'
import { Failure } from '../platform/errors.ts'
import { within } from '../web/within.ts'

export type EngineLook = { ok: boolean; detail: string }

/** Milliseconds that a page waits for the engine before it says that it does not answer. */
const patience = 1000

/** Milliseconds after which the engine is looked at again; pages say meanwhile what was seen last. */
const interval = 1000

/** Whether the engine answers, looked at once a second however many ask, and seen two seconds ago at most. */
export function engineLooks(docker: Docker): () => Promise<EngineLook> {
  let last: { at: number; seen: Promise<EngineLook> } | null = null
  let isLooking = false

  return function lookAtEngine() {
    const at = performance.now()
    if (!last || at - last.at >= interval + patience) last = { at, seen: look(docker) }
    else if (at - last.at >= interval && !isLooking) void resync(at)
    return last.seen
  }

  async function resync(at: number) {
    isLooking = true
    const seen = look(docker)
    await seen.catch(() => {}) // whoever asks next is told
    last = { at, seen }
    isLooking = false
  }
}

async function look(docker: Docker): Promise<EngineLook> {
  try {
    const info = await within(patience, docker.info())
    if (info) return { ok: true, detail: `Docker Engine ${info.version}` }
    return { ok: false, detail: 'The Docker Engine takes long to answer. Nothing can be deployed.' }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { ok: false, detail: `${error.message} ${error.hint}` }
  }
}

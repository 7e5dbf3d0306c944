import { resync } from '../docker/index.ts'
import type { ContainerSummary, Docker, EngineEvent } from '../docker/index.ts'
import { within } from '../platform/pause.ts'

/** Milliseconds for a server to list its containers again, before a page shows the list it had. */
const listTime = 50

type List = {
  /** False after an event. */
  isCurrent: boolean
  reading: Promise<ContainerSummary[]>
  /** What was read. */
  latest: ContainerSummary[] | null
}

/** The containers of other servers, for pages: they are only listed again after an event of one. */
export class ContainerLists {
  readonly #lists = new Map<string, List>()
  readonly #late: () => void

  /** `late` is called when a list has come for which a page did not wait. */
  constructor(late: () => void) {
    this.#late = late
  }

  async of(docker: Docker) {
    const before = this.#lists.get(docker.serverId)
    if (before?.isCurrent) return before.latest ?? before.reading
    const reading = docker.listContainers({ all: true })
    const list: List = { isCurrent: true, reading, latest: null }
    this.#lists.set(docker.serverId, list)
    reading.then(
      (found) => (list.latest = found),
      () => (list.isCurrent = false),
    )
    if (!before?.latest) return reading
    list.latest = before.latest
    const found = await within(listTime, reading)
    if (!found) reading.then(this.#late, () => {})
    return found ?? before.latest
  }

  hear(event: EngineEvent | typeof resync) {
    for (const [serverId, list] of this.#lists)
      if (event === resync || event.serverId === serverId) list.isCurrent = false
  }
}

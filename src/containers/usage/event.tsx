import { sseEvent } from '../../web/sse.ts'
import { chartsId, StatsCharts } from './charts.tsx'
import { StatsFigures } from './figures.tsx'
import { usageJson } from './shown.ts'
import type { History } from './sample-history.ts'
import type { Shown } from './shown.ts'

/** What one look at a container brought, rendered once for all who watch. */
export class UsageEvent {
  readonly #history: History | null
  #html: Uint8Array | undefined
  #json: Uint8Array | undefined

  /** With a history, the charts are drawn again. */
  constructor(
    readonly shown: Shown,
    history: History | null = null,
  ) {
    this.#history = history
  }

  /** As an SSE event for the page. */
  get html() {
    return (this.#html ??= this.#encode(this.#render()))
  }

  /** As an SSE event for programs. */
  get json() {
    return (this.#json ??= this.#encode(JSON.stringify(usageJson(this.shown))))
  }

  /** Where a page shows another range, the charts find no place and are left out. */
  #render() {
    const figures = String(<StatsFigures shown={this.shown} />)
    if (!this.#history) return figures
    const memoryLimit = this.shown.state === 'running' ? this.shown.usage.memoryLimit : null
    const charts = String(<StatsCharts history={this.#history} memoryLimit={memoryLimit} />)
    const place = `hx-target="#${chartsId(this.#history.range)}" hx-swap="innerMorph"`
    return `${figures}<hx-partial ${place}>${charts}</hx-partial>`
  }

  #encode(data: string) {
    const isLast = this.shown.state === 'removed'
    const end = isLast ? sseEvent({ event: 'done', data: this.shown.state }) : ''
    return new TextEncoder().encode(sseEvent({ data }) + end)
  }
}

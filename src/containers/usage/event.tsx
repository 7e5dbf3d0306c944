import type { JSX } from 'hono/jsx/jsx-runtime'
import { sseEvent } from '../../web/sse.ts'
import { chartsId, StatsCharts } from './charts.tsx'
import { figuresId, StatsFigures } from './figures.tsx'
import { usageJson } from './shown.ts'
import type { UsageNow } from './poller.ts'

type Format = 'html' | 'json'

const encoded = {
  html: new WeakMap<UsageNow, Uint8Array>(),
  json: new WeakMap<UsageNow, Uint8Array>(),
}

/** Renders an SSE event once for all watchers. */
export function usageEvent(look: UsageNow, as: Format) {
  const known = encoded[as].get(look)
  if (known) return known
  const made = encode(look, as === 'html' ? render(look) : JSON.stringify(usageJson(look.shown)))
  encoded[as].set(look, made)
  return made
}

/** On a page that shows another range, the charts match no element and are ignored. */
function render({ shown, history }: UsageNow) {
  const figures = partOf(figuresId, <StatsFigures shown={shown} />)
  if (!history) return figures
  const memoryLimit = shown.state === 'running' ? shown.usage.memoryLimit : null
  const charts = <StatsCharts history={history} memoryLimit={memoryLimit} />
  return figures + partOf(chartsId(history.range), charts)
}

function encode({ shown }: UsageNow, data: string) {
  const end = shown.state === 'removed' ? sseEvent({ event: 'done', data: shown.state }) : ''
  return new TextEncoder().encode(sseEvent({ data }) + end)
}

const partOf = (id: string, content: JSX.Element) =>
  `<hx-partial hx-target="#${id}" hx-swap="innerMorph">${String(content)}</hx-partial>`

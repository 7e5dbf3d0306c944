import type { Jobs } from '../jobs/jobs.ts'
import { ticks } from '../live/ticks.ts'
import type { Conditions } from '../runtime/conditions.ts'
import { CsrfToken } from '../web/form.tsx'
import { sseEvent } from '../web/sse.ts'
import { eventJson } from './json.ts'
import type { PullProgress } from './progress.ts'
import { ServiceStatus } from './service-status.tsx'
import type { StatusProps } from './service-status.tsx'
import { shownService } from './shown.ts'
import type { Shown } from './shown.ts'
import type { ServiceDeps } from './state.ts'
import { getService } from './store.ts'

/** Milliseconds between two looks: a pull tells of itself many times a second. */
const interval = 250

/** Milliseconds after which it is looked at in any case. */
const longest = 10_000

export type FollowDeps = ServiceDeps & {
  jobs: Jobs
  pulls: Map<string, PullProgress>
  conditions: Conditions
}

type Viewer = { id: string; signal: AbortSignal }

/** What an instance is doing as JSON, and again whenever that changed, until it is deleted. */
export const followJson = (deps: FollowDeps, viewer: Viewer) =>
  follow(deps, viewer, ({ service, images }) => JSON.stringify(eventJson(service, images)))

/** The same as the status of its page, which it takes the place of. */
export const followHtml = (
  deps: FollowDeps,
  { csrfToken, ...viewer }: Viewer & { csrfToken: string },
) =>
  follow(deps, viewer, (props) => {
    const html = String(
      <CsrfToken value={csrfToken}>
        <ServiceStatus {...props} />
      </CsrfToken>,
    )
    // morphs, so that a button keeps its focus
    return `<hx-partial hx-target="#service-status" hx-swap="outerMorph">${html}</hx-partial>`
  })

/** Looks at once, and then after the instance or a container changed. */
async function* follow(
  deps: FollowDeps,
  { id, signal }: Viewer,
  render: (props: StatusProps) => string,
) {
  const wakeOnChange = (wake: () => void) => {
    deps.serviceEvents.listen(id, signal, { push: wake })
    deps.conditions.listen(signal, wake)
  }
  let sent = ''
  for await (const _ of ticks(wakeOnChange, { signal, interval, longest })) {
    const service = getService(deps.db, id)
    if (!service) break
    const data = render(statusPropsOf(deps, await shownService(deps, service)))
    if (data !== sent) yield sseEvent({ data })
    sent = data
  }
  yield gone
}

/** It was deleted: a client that came again would find nothing. */
const gone = sseEvent({ event: 'done', data: 'deleted' })

export const statusPropsOf = (
  { jobs, pulls }: Pick<FollowDeps, 'jobs' | 'pulls'>,
  shown: Shown,
): StatusProps => ({
  ...shown,
  isBusy: jobs.isBusy(shown.service.id),
  images: pulls.get(shown.service.id)?.images ?? [],
})

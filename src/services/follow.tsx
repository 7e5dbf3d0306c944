import type { Config } from '../config.ts'
import type { Conditions } from '../runtime/conditions.ts'
import type { Db } from '../db/index.ts'
import type { Docker } from '../docker/index.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { Hub } from '../live/hub.ts'
import { ticks } from '../live/ticks.ts'
import { placesOf } from '../projects/places.ts'
import { CsrfToken } from '../web/form.tsx'
import { sseEvent } from '../web/sse.ts'
import type { ServiceEvent } from './events.ts'
import { eventJson } from './json.ts'
import type { PullProgress } from './progress.ts'
import { shownService } from './shown.ts'
import { ServiceStatus } from './service-status.tsx'
import type { StatusProps } from './service-status.tsx'
import { getService } from './store.ts'

/** Milliseconds between two looks: a pull tells of itself many times a second. */
const interval = 250

/** Milliseconds after which it is looked at in any case. */
const longest = 10_000

export type FollowDeps = {
  config: Config
  db: Db
  docker: Docker
  instanceId: string
  jobs: Jobs
  pulls: Map<string, PullProgress>
  serviceEvents: Hub<ServiceEvent>
  conditions: Conditions
}
type Viewer = { id: string; signal: AbortSignal }

/** What an instance is doing as JSON, and again whenever that changed, until it is deleted. */
export async function* followJson(deps: FollowDeps, viewer: Viewer) {
  let sent = ''
  for await (const { shown, images } of follow(deps, viewer)) {
    const data = JSON.stringify(eventJson(shown.service, images))
    if (data !== sent) yield sseEvent({ data })
    sent = data
  }
  yield gone
}

/** The same as the status of its page, which it takes the place of. */
export async function* followHtml(
  deps: FollowDeps,
  { csrfToken, ...viewer }: Viewer & { csrfToken: string },
) {
  let sent = ''
  for await (const props of follow(deps, viewer)) {
    const html = String(
      <CsrfToken value={csrfToken}>
        <ServiceStatus {...props} />
      </CsrfToken>,
    )
    // morphs, so that a button keeps its focus
    const data = `<hx-partial hx-target="#service-status" hx-swap="outerMorph">${html}</hx-partial>`
    if (data !== sent) yield sseEvent({ data })
    sent = data
  }
  yield gone
}

/** It was deleted: a client that came again would find nothing. */
const gone = sseEvent({ event: 'done', data: 'deleted' })

async function* follow(deps: FollowDeps, { id, signal }: Viewer): AsyncGenerator<StatusProps> {
  for await (const _ of looks(deps, { id, signal })) {
    const service = getService(deps.db, id)
    if (!service) return
    yield statusPropsOf(deps, await shownService(deps, service))
  }
}

export const statusPropsOf = (
  { jobs, pulls, ...deps }: Pick<FollowDeps, 'config' | 'db' | 'jobs' | 'pulls'>,
  shown: StatusProps['shown'],
): StatusProps => ({
  shown,
  places: placesOf(deps, shown.service.ownerId),
  isBusy: jobs.isBusy(shown.service.id),
  images: pulls.get(shown.service.id)?.images ?? [],
})

/** Looks at once, and then after the instance or a container changed. */
const looks = (
  { serviceEvents, conditions }: Pick<FollowDeps, 'serviceEvents' | 'conditions'>,
  { id, signal }: Viewer,
) =>
  ticks(
    (wake) => {
      serviceEvents.listen(id, signal, { push: wake })
      conditions.listen(signal, wake)
    },
    { signal, interval, longest },
  )

import type { Context } from 'hono'
import { raw } from 'hono/html'
import type { LogParts } from '../logs/answer-log.tsx'
import type { ShownQuery } from '../logs/forms.ts'
import { lineHtml } from '../logs/log-line.tsx'
import type { Line } from '../logs/log-line.tsx'
import type { Masks } from '../logs/masks.ts'
import { eachLines, listLastLines } from '../logs/read-log.ts'
import { getExtent } from '../logs/store.ts'
import { ShortCache } from '../platform/short-cache.ts'
import { clientOf } from '../web/client.ts'
import { isLiveRequest } from '../web/live.tsx'
import type { Db, LogDb } from '../db/index.ts'
import { LogGroups } from './log-groups.ts'
import { getJob, isEnded, logOf } from './store.ts'
import type { Deployment } from './store.ts'

/** Lines that are looked at to part a log into its steps; those beyond them stand below. */
const most = 50_000

/** The steps of a deployment as its log tells them, up to that line. */
async function groupsOf(
  deps: { logDb: LogDb; masks: Masks },
  deployment: Deployment,
  { last }: { last: number },
): Promise<LogGroups> {
  const groups = new LogGroups(deployment)
  const limit = Math.min(last, most)
  for await (const { lines } of eachLines(deps, logOf(deployment), { after: 0 })) {
    groups.take(
      lines.filter(({ sequence }) => sequence <= limit),
      deployment,
    )
    if ((lines.at(-1)?.sequence ?? 0) >= limit) break
  }
  groups.tell(deployment)
  return groups
}

/** Steps of logs that are over: to find them takes long, and pages ask again whenever something changes. */
const known = new ShortCache({ milliseconds: 60_000, most: 10 })

function stepsOf(
  deps: { logDb: LogDb; masks: Masks },
  deployment: Deployment,
  { extent, signal }: { extent: { first: number; last: number }; signal: AbortSignal },
) {
  const find = async () => {
    const groups = await groupsOf(deps, deployment, extent)
    const { firstError, quote } = groups
    return { groups: groups.takeChanged()?.groups ?? [], firstError, quote }
  }
  if (!isEnded(deployment.status)) return find()
  const hidden = deps.masks.stateOf(logOf(deployment).sourceId)
  const key = [deployment.id, deployment.status, extent.first, extent.last, hidden].join(' ')
  return known.remember(key, { find, signal })
}

/** Of a deployment's log, what its page itself carries. */
const pageTail = { limit: 100, maxLength: 64 * 1024 }

export type LogView = Awaited<ReturnType<typeof logView>>

/** What a page shows of a deployment's log: its last lines, or those before one or that match, in their steps. */
export async function logView(
  c: Context,
  deps: { logDb: LogDb; masks: Masks },
  { deployment, chosen }: { deployment: Deployment; chosen: ShownQuery },
) {
  const log = logOf(deployment)
  const extent = getExtent(deps.logDb, log)
  // the log itself is no live part, but the failure that quotes it is
  const isShown = !isLiveRequest(c) || deployment.status === 'failed'
  if (clientOf(c) === 'program' || !isShown)
    return { chosen, extent, lines: [], groups: [], firstError: null, quote: [] }
  const lines = await listLastLines(deps, log, { ...pageTail, ...chosen })
  const { signal } = c.req.raw
  return { chosen, extent, lines, ...(await stepsOf(deps, deployment, { extent, signal })) }
}

/** The steps for those who follow the log from that line on: all of them where they come again. */
export async function followGroups(
  deps: { db: Db; logDb: LogDb; masks: Masks },
  deployment: Deployment,
  { last, isAgain }: { last: number; isAgain: boolean },
): Promise<LogParts> {
  const groups = await groupsOf(deps, deployment, { last })
  const now = () => getJob(deps.db, deployment.id)?.deployment ?? deployment
  if (!isAgain) groups.takeChanged() // the page has them
  return {
    take: (lines) => groups.take(lines, now()),
    tell: () => groups.tell(now()),
    takeChanged: () => groups.takeChanged(),
  }
}

/**
 * The last lines of a log in their steps. Those that are over are folded, but for the one that failed; after
 * a search those without a match are.
 */
export const GroupedLines = ({
  groups,
  lines,
  chosen: { search },
}: Pick<LogView, 'groups' | 'lines' | 'chosen'>) => (
  <>
    {groups.map((group) => {
      const { title, state, facts, isQuiet, ranges } = group
      const isOfIt = ({ sequence }: Line) =>
        ranges.some(([first, last]) => first <= sequence && sequence <= last)
      const own = lines.filter(isOfIt)
      return (
        <details
          class="log-fold"
          open={search ? own.length > 0 : state === 'active' || state === 'failed'}
          data-state={state}
          data-quiet={isQuiet || undefined}
          data-group={JSON.stringify(group)}
        >
          <summary>
            <span class="fold-title">{title}</span> <span class="fold-facts">{facts}</span>
          </summary>
          {raw(own.map(lineHtml).join(''))}
        </details>
      )
    })}
  </>
)

import type { Context } from 'hono'
import { raw } from 'hono/html'
import type { LogParts } from '../logs/answer-log.tsx'
import type { ShownQuery } from '../logs/forms.ts'
import { lineHtml } from '../logs/log-line.tsx'
import type { Line } from '../logs/log-line.tsx'
import type { Masks } from '../logs/masks.ts'
import { eachLines, lastLinesOf } from '../logs/read-log.ts'
import { getExtent } from '../logs/store.ts'
import type { ShortCache } from '../platform/short-cache.ts'
import { clientOf } from '../web/client.ts'
import { isLiveRequest } from '../web/live.tsx'
import type { Db, LogDb } from '../db/index.ts'
import { LogGroups } from './log-groups.ts'
import { getJob, isEnded, logOf } from './store.ts'
import type { Deployment } from './store.ts'

/** Maximum of lines that are grouped into steps. Later lines follow below, ungrouped. */
const maxLines = 50_000

/** Groups the log up to the line `last`. */
async function groupsOf(
  deps: { logDb: LogDb; masks: Masks },
  deployment: Deployment,
  { last }: { last: number },
): Promise<LogGroups> {
  const groups = new LogGroups(deployment)
  const limit = Math.min(last, maxLines)
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

export type LogViewDeps = { logDb: LogDb; masks: Masks; groupedLogs: ShortCache }

function stepsOf(
  deps: LogViewDeps,
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
  return deps.groupedLogs.remember(key, { find, signal })
}

export type LogView = Awaited<ReturnType<typeof logView>>

/** Shows the last lines of a log grouped by step, or the lines before one, or those that match a search. */
export async function logView(
  c: Context,
  deps: LogViewDeps,
  { deployment, chosen }: { deployment: Deployment; chosen: ShownQuery },
) {
  const log = logOf(deployment)
  // The log isn't a live part of the page, but the failure that quotes it is.
  const isShown = !isLiveRequest(c) || deployment.status === 'failed'
  if (clientOf(c) === 'program' || !isShown)
    return {
      ...{ chosen, extent: getExtent(deps.logDb, log) },
      ...{ lines: [], previous: null, groups: [], firstError: null, quote: [] },
    }
  const last = await lastLinesOf(deps, log, chosen)
  const { extent } = last
  const { signal } = c.req.raw
  return { ...last, ...(await stepsOf(deps, deployment, { extent, signal })) }
}

/** Groups the lines after `last` for a reader who follows the log. With `isAgain`, all groups are sent. */
export async function followGroups(
  deps: { db: Db; logDb: LogDb; masks: Masks },
  deployment: Deployment,
  { last, isAgain }: { last: number; isAgain: boolean },
): Promise<LogParts> {
  const groups = await groupsOf(deps, deployment, { last })
  const now = () => getJob(deps.db, deployment.id)?.deployment ?? deployment
  if (!isAgain) groups.takeChanged() // the page already has these
  return {
    take: (lines) => groups.take(lines, now()),
    tell: () => groups.tell(now()),
    takeChanged: () => groups.takeChanged(),
  }
}

/** Groups that are done are folded, but not a failed one. After a search those without a match are folded. */
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

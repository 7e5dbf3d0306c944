import { Failure } from '../platform/errors.ts'
import type { User } from '../web/factory.ts'
import { CsrfToken } from '../web/form.tsx'
import { sseEvent } from '../web/sse.ts'
import { ContainerRow, rowId } from './container-row.tsx'
import { listVisible } from './find.ts'
import type { FindDeps } from './find.ts'
import { groupRows } from './groups.ts'
import type { Group } from './groups.ts'
import { containerJson } from './json.ts'
import { ContainerList, listId } from './list-page.tsx'
import { rowOf } from './row.ts'
import type { RowDeps } from './row.ts'

type FollowDeps = FindDeps & RowDeps
type Viewer = { user: User; signal: AbortSignal }

/** The list as JSON, and again whenever it changed, at most once a second. */
export async function* followJson(deps: FollowDeps, viewer: Viewer) {
  let sent = ''
  for await (const rows of followRows(deps, viewer)) {
    const data = JSON.stringify({ containers: rows.map(containerJson) })
    if (data !== sent) yield sseEvent({ data })
    sent = data
  }
}

/**
 * What changed in the list, at most once a second: the rows that look different now, or all of it
 * when others stand in it.
 */
export async function* followHtml(
  deps: FollowDeps,
  { csrfToken, ...viewer }: Viewer & { csrfToken: string },
) {
  let order = ''
  let sent = new Map<string, string>()
  for await (const rows of followRows(deps, viewer)) {
    const groups = groupRows(rows, viewer.user)
    const drawn = new Map(drawRows(groups))
    const changed = [...drawn].filter(([id, html]) => sent.get(id) !== html)
    const newOrder = orderOf(groups)
    if (newOrder !== order) yield sseEvent({ data: replacing(listId, drawList(groups)) })
    else if (changed.length > 0)
      yield sseEvent({ data: changed.map(([id, html]) => replacing(id, html)).join('') })
    order = newOrder
    sent = drawn
  }

  function* drawRows(groups: Group[]): Generator<[string, string]> {
    for (const { rows } of groups)
      for (const row of rows)
        yield [
          rowId(row.container),
          String(
            <CsrfToken value={csrfToken}>
              <ContainerRow row={row} />
            </CsrfToken>,
          ),
        ]
  }

  function drawList(groups: Group[]) {
    return String(
      <CsrfToken value={csrfToken}>
        <ContainerList groups={groups} isAdmin={viewer.user.role === 'admin'} />
      </CsrfToken>,
    )
  }
}

/** An engine that is away is waited for; the page says what it saw last. */
async function* followRows(deps: FollowDeps, { user, signal }: Viewer) {
  for await (const _ of deps.conditions.changes(signal)) {
    try {
      const seen = await listVisible(deps, user, { signal })
      yield seen.map((listed) => rowOf(deps, listed))
    } catch (error) {
      if (!(error instanceof Failure)) throw error
    }
  }
}

/** Morphs, so that a button keeps its focus. */
const replacing = (id: string, html: string) =>
  `<hx-partial hx-target="#${id}" hx-swap="outerMorph">${html}</hx-partial>`

const orderOf = (groups: Group[]) =>
  groups
    .map(({ key, title, rows }) => [key, title, ...rows.map((row) => row.container.id)].join(' '))
    .join('\n')

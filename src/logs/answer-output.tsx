import type { Context } from 'hono'
import type { JSX } from 'hono/jsx/jsx-runtime'
import { isLoginAlive } from '../accounts/login-alive.ts'
import type { Deps } from '../deps.ts'
import { clientOf } from '../web/client.ts'
import type { Env } from '../web/factory.ts'
import { lastEventId, sse } from '../web/sse.ts'
import { linesAsHtml, linesAsJson } from '../web/lines-answer.ts'
import { show } from '../web/respond.tsx'
import { datedText, textFile } from '../web/text-file.ts'
import { followOutput } from './follow-output.ts'
import type { OutputQuery, OutputStreamQuery } from './forms.ts'
import { outputLineHtml, outputLineJson } from './output-batch.ts'
import { getExtent } from './output-store.ts'
import { OutputView } from './output-view.tsx'
import { findOutput, listOutputBefore } from './read-output.ts'

/** What the page itself carries; the viewer asks for the rest. */
const tail = { limit: 200, maxLength: 64 * 1024 }

/** What a download reads at a time. */
const chunk = { limit: 5000, maxLength: 256 * 1024 }

/** An environment or service whose containers' output is kept. */
type OutputSource = { id: string; name: string }

/** What is kept of its output: a page, rows for the viewer, JSON, or all of it as text. */
export async function answerOutput(
  c: Context,
  { logDb, masks, config }: Pick<Deps, 'logDb' | 'masks' | 'config'>,
  {
    source,
    asked,
    title,
    frame,
  }: {
    source: OutputSource
    asked: OutputQuery
    title: string
    /** What the page stands in. */
    frame: (view: JSX.Element) => JSX.Element
  },
) {
  const sourceId = source.id
  if (asked.download !== undefined)
    return textFile(c, {
      name: `${source.name}.log`,
      pieces: wholeOutput({ logDb, masks }, { sourceId, asked }),
    })
  const extent = getExtent(logDb, sourceId)
  if (clientOf(c) === 'browser') {
    const before = extent.last + 1
    const lines = await listOutputBefore({ logDb, masks }, { sourceId, before, ...tail })
    const { path } = c.req
    const page = () =>
      frame(<OutputView path={path} name={source.name} {...{ extent, tail: lines, config }} />)
    return show(c, { title, page })
  }
  const { lines, next } = await linesFor({ logDb, masks }, { sourceId, asked })
  c.header('Vary', 'Accept, HX-Request, HX-Request-Type')
  if (clientOf(c) === 'partial') return linesAsHtml(c, { lines, html: outputLineHtml })
  const { first, last, since } = extent
  return linesAsJson(c, {
    lines,
    json: outputLineJson,
    nextCursor: next === null ? null : String(next),
    first,
    last,
    since: since === null ? null : new Date(since).toISOString(),
  })
}

/** The lines after the one that is asked for, and those that are stored from now on. */
export function streamOutput(
  c: Context<Env>,
  {
    db,
    logDb,
    masks,
    collector,
    streams,
  }: Pick<Deps, 'db' | 'logDb' | 'masks' | 'collector' | 'streams'>,
  { source: { id: sourceId }, asked }: { source: OutputSource; asked: OutputStreamQuery },
) {
  const { live } = collector
  // one that was not given out yet would hide the lines up to it
  const after = Math.min(Math.max(asked.after, lastEventId(c)), getExtent(logDb, sourceId).last)
  return sse(c, {
    streams,
    isAllowed: () => isLoginAlive(db, c),
    events: (signal) => followOutput({ live, logDb, masks }, { sourceId, after, signal }),
    render: (batch) => (asked.format === 'json' ? batch.json : batch.html),
  })
}

type Reading = Pick<Deps, 'logDb' | 'masks'>

async function linesFor(
  deps: Reading,
  {
    sourceId,
    asked: { after, cursor = after, before, ...asked },
  }: { sourceId: string; asked: OutputQuery },
) {
  if (before === undefined) return findOutput(deps, { ...asked, sourceId, after: cursor })
  const { limit } = asked
  return { lines: await listOutputBefore(deps, { sourceId, before, limit }), next: null }
}

/** As plain text. */
async function* wholeOutput(
  deps: Reading,
  {
    sourceId,
    asked: { after, cursor = after, limit: _, ...filter },
  }: { sourceId: string; asked: OutputQuery },
) {
  let next: number | null = cursor
  while (next !== null) {
    const found = await findOutput(deps, { ...filter, sourceId, after: next, ...chunk })
    next = found.next
    if (found.lines.length > 0) yield found.lines.map(datedText).join('')
  }
}

import { createContext, useContext } from 'hono/jsx'
import type { Child } from 'hono/jsx'
import { raw } from 'hono/html'
import type { JSX } from 'hono/jsx/jsx-runtime'
import type { Context } from 'hono'

/** Keeps a page up to date: see `Live`. */
export type Liveness = {
  /** An id with its own changes, such as the progress of a service's pull. */
  about?: string
  /** Seconds after which figures are read again although nothing was reported as changed. */
  every?: number
  /** True when a log's stream on the page also reports changes, so that the page needs no other stream. */
  isCarried?: boolean
}

const Parts = createContext<string[] | null>(null)
const Version = createContext('')

/** Provides the version of the page's data, taken before that was read. */
export const SeenVersion = ({ value, children }: { value: string; children: Child }) => (
  <Version.Provider value={value}>{children}</Version.Provider>
)

export const useSeenVersion = () => useContext(Version)

/**
 * A part of a page that is updated when its data changes; the page has `live` in its `View`. It must always
 * be on the page, even when it is empty, and must not contain input fields. Rows of a list in it need ids, so
 * that an open menu or a focused button doesn't move to another row.
 */
export function Live({
  id,
  as = 'div',
  children,
  ...attributes
}: {
  id: string
  as?: 'div' | 'section' | 'ul' | 'tbody' | 'nav'
  children?: Child
  [attribute: string]: unknown
}) {
  const parts = useContext(Parts)
  const Element = as as 'div'
  const part = (
    <Element id={id} {...attributes}>
      {children}
    </Element>
  )
  if (!parts) return part
  const html = String(part)
  // morphs, so that a button keeps its focus and a text its selection
  parts.push(`<hx-partial hx-target="#${id}" hx-swap="outerMorph">${html}</hx-partial>`)
  return raw(html) as unknown as JSX.Element
}

/** `LiveStream` sends the header when a page requests its live parts again. */
export const isLiveRequest = (c: Context) => c.req.header('Davit-Live') === '1'

/** The live parts of a page, each of which replaces the current one. */
export function livePartsOf(page: JSX.Element) {
  const parts: string[] = []
  String(<Parts.Provider value={parts}>{page}</Parts.Provider>)
  return parts.join('')
}

/** The page's stream, and the element that requests its live parts when the stream reports a change. */
export const LiveStream = ({
  path,
  live: { about, every, isCarried = false },
}: {
  /** The page's path, with its query. */
  path: string
  live: Liveness
}) => (
  <>
    <Live id="live-stream" hidden>
      {!isCarried && (
        <div
          hx-sse:connect={`/live?${liveQueryOf({ since: useSeenVersion(), about, every })}`}
          hx-trigger="load, retry"
          hx-swap="none"
          hx-morph-skip
        />
      )}
    </Live>
    <div
      id="live-refresh"
      hidden
      hx-get={path}
      hx-headers='{"Davit-Live":"1"}'
      hx-trigger="changed from:body, status from:body, done from:body"
      hx-sync="this:queue last"
      hx-swap="none"
    />
  </>
)

const liveQueryOf = (watch: Record<string, string | number | undefined>) => {
  const set = Object.entries(watch).filter(([, value]) => value !== undefined)
  return new URLSearchParams(set.map(([name, value]): [string, string] => [name, `${value}`]))
}

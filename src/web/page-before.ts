import type { Context } from 'hono'
import type { Config } from '../config.ts'

/** The page of ours that a link was followed or a form was sent on, as a path; null where it is none of ours. */
export function pageBefore(c: Context, { url }: Pick<Config, 'url'>) {
  const from = c.req.header('HX-Current-URL') ?? c.req.header('Referer')
  if (!from || !URL.canParse(from)) return null
  const { host, pathname, search } = new URL(from)
  return [url?.host, c.req.header('Host')].includes(host) ? pathname + search : null
}

import { keyInLog } from './access-log.ts'
import { isScheme } from './forwarded.ts'
import { logIn, needsLogin } from './logins.ts'
import { optionHandlers } from './options.ts'
import { literal, plainHandler } from './pages.ts'
import { keyOf, davitKey } from './plan.ts'
import type { Accounts, Host, Site } from './plan.ts'
import { spellings } from './spellings.ts'

/**
 * A target such as `x:http://host/admin` has no path for Caddy, so that none of a site's prefixes matches it,
 * while an app may read one in it.
 */
export const pathless = {
  match: [{ vars: { '{http.request.uri.path}': [''] } }],
  handle: [plainHandler(400, 'The request has no path.')],
  terminal: true,
}

/** Sends HSTS for the hosts that enable it. */
export function strictHosts(hosts: Host[], isTrusting: boolean) {
  const host = hosts.flatMap(({ name, hsts }) => (hsts ? name : []))
  const set = { 'Strict-Transport-Security': ['max-age=31536000'] }
  const handle = [{ handler: 'headers', response: { deferred: true, set } }]
  return host.length > 0 ? [{ match: [{ ...isScheme('https', isTrusting), host }], handle }] : []
}

/**
 * The longest path prefix of a host wins, and follows the host in the key of the site. Sites without one and
 * without options need no route.
 */
export const siteRoutes = ({ name, sites }: Host, { isForeign }: { isForeign: boolean }) =>
  sites
    .toSorted((a, b) => b.path.length - a.path.length)
    .flatMap((site) => {
      const login = isForeign
        ? logIn
        : (accounts: Accounts) => needsLogin(keyOf(name, site), accounts)
      const handlers = [...cookieHandlers(site), ...optionHandlers(site, login)]
      const isWhole = site.path === '/'
      if (handlers.length === 0 && isWhole) return []
      const spelled = isWhole ? [{}] : [{ path: prefixed(site.path) }, ...spellings(site)]
      const match = spelled.map((one) => ({ host: [name], ...one }))
      const key = [{ handler: 'vars', davit: literal(site.path) }, keyInLog(keyOf(name, site))]
      return [{ group: 'sites', match, handle: [...(isWhole ? [] : key), ...handlers] }]
    })

const prefixed = (path: string) => [literal(path), literal(`${path}/*`)]

/** Davit's own cookies. An app on a subdomain can set any cookie for all of them, so values are limited. */
const own = [
  'svc_(?:session|csrf|theme|visitor|browser|oauth)=[^;]{0,200}',
  'svc_next=[^;]{0,1000}[^;]{0,1000}',
].join('|')

/** No header can contain this character. */
const mark = '\u0001'

/** Puts a semicolon on either side of each pair, marks those to keep, and removes the others. */
const onlyOwn = {
  handler: 'headers',
  request: {
    replace: {
      Cookie: [
        { search_regexp: ' *; *', replace: ';;' },
        { search_regexp: `(^|;)((?:__Host-)?(?:${own}))(;|\\z)`, replace: `$1${mark}$2$3` },
        { search_regexp: `(^|;)[^;${mark}][^;]*(;|\\z)`, replace: '' },
        { search_regexp: `;*${mark}`, replace: '; ' },
        { search_regexp: '^;* *|;+\\z', replace: '' },
      ],
    },
  },
}

/** Placed before Davit itself: with more cookies than it reads, a browser couldn't use it any more. */
const cookieHandlers = ({ target }: Pick<Site, 'target'>) =>
  'slots' in target && target.slots === davitKey ? [onlyOwn] : []

import type { Plan } from './plan.ts'

/** By its value an edge knows a request of another one. */
export const tokenHeader = 'Davit-Edge'

/** The `trusted_proxies` of a server: X-Forwarded-For counts only as far as they wrote it, from the right. */
export const trusting = (ranges: string[] = []) =>
  ranges.length > 0
    ? { trusted_proxies: { source: 'static', ranges }, trusted_proxies_strict: 1 }
    : {}

const byTrustedProxy = { vars: { trusted_proxy: ['true'] } }

const proxySays = (scheme: string, pattern: string) => ({
  match: [{ ...byTrustedProxy, header_regexp: { 'X-Forwarded-Proto': { pattern } } }],
  handle: [{ handler: 'vars', davit_scheme: scheme }],
})

/** True where a request may come from a trusted proxy. Without one, much needn't be asked of each request. */
export const hasProxies = ({
  trustedProxies = [],
  tokens,
}: Pick<Plan, 'trustedProxies' | 'tokens'>) => trustedProxies.length > 0 || tokens !== undefined

/** Marks requests in the log that would be attributed to another address if their proxy were trusted. */
export const forwardedInLog = (isTrusting: boolean) => ({
  match: [{ header: { 'X-Forwarded-For': ['*'] }, ...(isTrusting && { not: [byTrustedProxy] }) }],
  handle: [{ handler: 'log_append', key: 'forwarded', value: 'true' }],
})

/** Some proxies write an IPv4 address as IPv6, which no range would contain. */
const plainAddress = {
  match: [{ vars_regexp: { client_ip: { name: 'mapped', pattern: '^::ffff:(\\d+[.].+)$' } } }],
  handle: [{ handler: 'vars', client_ip: '{http.regexp.mapped.1}' }],
}

/** The first routes behind a proxy: they set a visitor's address and scheme, which it alone knows. */
export const visitorRoutes = (isTrusting: boolean) =>
  isTrusting
    ? [
        plainAddress,
        { handle: [{ handler: 'vars', davit_scheme: '{http.request.scheme}' }] },
        proxySays('https', '(?i)^\\s*(https|wss)\\s*(,|$)'),
        proxySays('http', '(?i)^\\s*(http|ws)\\s*(,|$)'),
      ]
    : []

export const isScheme = (scheme: 'http' | 'https', isTrusting: boolean) =>
  isTrusting ? { vars: { davit_scheme: [scheme] } } : { protocol: scheme }

/**
 * Headers by which frameworks believe a proxy: address, scheme, host, port, path and method of the visitor's
 * request. Most names are complete, since a pattern is compared with each header of each request.
 */
const ofProxies = [
  ...['*-ip', 'x-clientip', 'x-azure-clientip', 'x-azure-socketip', 'x-realip', 'x-remote-addr'],
  ...['cf-connecting-ipv6', 'x-envoy-external-address', 'cloudfront-viewer-address', 'remote-addr'],
  ...['x-forward-for', 'x-forward-proto', 'x-scheme', 'x-url-scheme', 'x-proto', 'x-https'],
  ...['x-arr-ssl', 'front-end-https', 'https', 'cf-visitor', 'wl-proxy-ssl', 'x-host'],
  ...['x-host-override', 'x-http-host-override', 'x-original-host', 'x-original-proto'],
  ...['x-original-for', 'x-original-forwarded-for', 'x-original-url', 'x-original-uri'],
  ...['x-original-path', 'x-original-method', 'x-rewrite-url', 'x-rewrite-uri', 'x-real-host'],
  ...['x-envoy-original-path', 'x-envoy-original-host', 'x-script-name', 'script-name'],
  ...['x-path-info', 'x-ingress-path', 'x-request-uri', 'x-override-url', 'x-http-destinationurl'],
  ...['forwarded', 'x-forwarded', 'x-forwarded-port', 'x-forwarded-prefix', 'x-forwarded-server'],
  ...['x-forwarded-path', 'x-forwarded-uri', 'x-forwarded-url', 'x-forwarded-method'],
  ...['x-forwarded-scheme', 'x-forwarded-protocol', 'x-forwarded-ssl', 'x-forwarded-context'],
  // many read these characters as a dash; newer versions of Caddy drop such names themselves
  ...['*_*', '*.*'],
  // would bypass the edge in an app that switches to HTTP/2
  'http2-settings',
  // of CGI: a proxy for the app's own requests; and of Rack: where files are
  ...['proxy', 'x-sendfile-type', 'x-accel-mapping'],
  tokenHeader.toLowerCase(), // an app that learns it could say at Davit's edge who the visitor is
]

/** Headers in which a proxy that logs people in names the visitor: only a trusted one may set them. */
const ofLogins = [
  ...[
    '*forwarded*',
    '*remote-*',
    '*client-cert*',
    '*ssl-client*',
    'x-client-verify',
    'x-client-dn',
  ],
  ...['x-arr-clientcert', 'x-auth-request-*', 'x-webauth-*', 'x-authentik-*', 'x-authenticated-*'],
  ...['x-pomerium-claim-email', 'x-vouch-user', 'tailscale-user-login', 'tailscale-user-name'],
  ...['cf-access-authenticated-user-email', 'x-goog-authenticated-user-email'],
  ...['x-goog-authenticated-user-id', 'x-amzn-oidc-identity', 'x-ms-client-principal'],
  ...['x-ms-client-principal-id', 'x-ms-client-principal-name'],
]

const without = (names: string[]) => ({ handler: 'headers', request: { delete: names } })

/** As Go spells it. */
const canonical = (name: string) => name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase())

const isLike = (pattern: string, name: string) =>
  pattern === name || new Bun.Glob(pattern).match(name)

/**
 * Removes headers of these names. Almost no request has one of the complete names, and asking for all of them
 * at once takes a third of the time that removing them does.
 */
function dropping(names: string[], from: object[] = []) {
  const patterns = names.filter((name) => name.includes('*'))
  const whole = names.filter((name) => !patterns.some((pattern) => isLike(pattern, name)))
  const none = { header: Object.fromEntries(whole.map((name) => [canonical(name), null])) }
  return [
    { ...(from.length > 0 && { match: [{ not: from }] }), handle: [without(patterns)] },
    { match: [{ not: [...from, none] }], handle: [without(whole)] },
  ]
}

/** Routes before an app: no visitor can set what only a proxy knows. They aren't nested, which would cost more. */
export const dropForged = (isTrusting: boolean) =>
  isTrusting
    ? [...dropping(ofLogins, [byTrustedProxy]), ...dropping(ofProxies)]
    : dropping([...ofLogins, ...ofProxies])

/** Set here, since a proxy with headers to set copies all others first. */
export const realAddress = {
  handler: 'headers',
  request: {
    set: { 'X-Real-IP': ['{http.vars.client_ip}'] },
    replace: {
      // Caddy removes what this names; without a name in between, another one could become this
      Connection: [{ search_regexp: '(?i)x-real-ip', replace: 'close' }],
      // `encode` adds its name to the ETag of compressed responses
      'If-None-Match': [{ search_regexp: '-(gzip|zstd)"', replace: '"' }],
    },
  },
}

/**
 * One address of the visitor, since apps differ in which of several they believe. Of a visitor without a
 * trusted proxy Caddy itself sends these.
 */
export const visitorHeaders = {
  request: {
    set: {
      'X-Forwarded-For': ['{http.vars.client_ip}'],
      'X-Forwarded-Proto': ['{http.vars.davit_scheme}'],
      'X-Forwarded-Host': ['{http.request.hostport}'],
    },
  },
}

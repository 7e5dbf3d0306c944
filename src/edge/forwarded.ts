/** The `trusted_proxies` of a server: only what they say of a visitor counts, from the right. */
export const trusting = (ranges: string[] = []) =>
  ranges.length > 0
    ? { trusted_proxies: { source: 'static', ranges }, trusted_proxies_strict: 1 }
    : {}

const byTrustedProxy = { vars: { trusted_proxy: ['true'] } }

const proxySays = (scheme: string, pattern: string) => ({
  match: [{ ...byTrustedProxy, header_regexp: { 'X-Forwarded-Proto': { pattern } } }],
  handle: [{ handler: 'vars', davit_scheme: scheme }],
})

/** The first routes of a server: how a visitor connects, of which a proxy that ends TLS knows alone. */
export const schemeRoutes = [
  { handle: [{ handler: 'vars', davit_scheme: '{http.request.scheme}' }] },
  proxySays('https', '(?i)^\\s*(https|wss)\\s*(,|$)'),
  proxySays('http', '(?i)^\\s*(http|ws)\\s*(,|$)'),
]

export const isScheme = (scheme: 'http' | 'https') => ({ vars: { davit_scheme: [scheme] } })

/** What frameworks believe of a proxy: the address, scheme, host, port, path and method of the visitor's request. */
const ofProxies = [
  ...['*-IP', '*ClientIP', 'X-Azure-SocketIP', 'CF-Connecting-*', 'X-RealIP', 'X-Real-*'],
  ...['X-Envoy-*', 'CloudFront-Viewer-Address', 'X-Forward-*', 'WL-Proxy-*', 'X-Remote-Addr'],
  ...['Remote-Addr', 'X-Scheme', 'X-Url-Scheme', 'X-Proto', 'X-Https', 'X-ARR-SSL', 'CF-Visitor'],
  ...['Front-End-Https', 'Https', 'X-Host', 'X-Host-Override', 'X-HTTP-Host-Override'],
  ...['X-Original-Host', 'X-Original-Proto', 'X-Original-For', 'X-Original-Forwarded-For'],
  ...['X-Original-URL', 'X-Original-URI', 'X-Original-Path', 'X-Original-Method', 'X-Rewrite-*'],
  ...['X-Script-Name', 'Script-Name', 'X-Path-Info', 'X-Ingress-Path', 'X-Request-URI'],
  ...['X-Override-URL', 'X-HTTP-DestinationURL', 'Forwarded', 'X-Forwarded', 'X-Forwarded-Port'],
  ...['X-Forwarded-Prefix', 'X-Forwarded-Server', 'X-Forwarded-Path', 'X-Forwarded-Uri'],
  ...['X-Forwarded-Url', 'X-Forwarded-Method', 'X-Forwarded-Scheme', 'X-Forwarded-Protocol'],
  ...['X-Forwarded-Ssl', 'X-Forwarded-Context'],
  // many read it as a dash; newer versions of Caddy drop such names themselves
  '*_*',
  // of CGI: a proxy for what the app sends; and of Rack: where files are
  ...['Proxy', 'X-Sendfile-Type', 'X-Accel-Mapping'],
]

/** Who a visitor is, by a proxy that logs people in: a trusted one may say so. */
const ofLogins = [
  ...['*Forwarded*', 'Remote-*', 'X-Remote-*', 'X-Auth-Request-*', 'X-WebAuth-*', 'X-Authentik-*'],
  ...[
    'X-Authenticated-*',
    'X-Pomerium-Claim-*',
    'X-Vouch-*',
    'Tailscale-*',
    'Cf-Access-Authenticated-*',
  ],
  ...['X-Goog-Authenticated-*', 'X-Amzn-Oidc-*', 'X-MS-Client-Principal*', '*Client-Cert*'],
  ...['*ClientCert', '*Client-Verify', '*Client-DN', 'SSL-*', 'X-SSL-*'],
]

const without = (names: string[]) => ({ handler: 'headers', request: { delete: names } })

/** Before an app: no visitor writes what only a proxy knows. */
export const dropForged = [
  {
    handler: 'subroute',
    routes: [{ match: [{ not: [byTrustedProxy] }], handle: [without(ofLogins)] }],
  },
  without(ofProxies),
]

/** What the edge says of a visitor: one address, since apps differ in which of several they believe. */
export const visitorHeaders = {
  request: {
    set: {
      'X-Forwarded-For': ['{http.vars.client_ip}'],
      'X-Forwarded-Proto': ['{http.vars.davit_scheme}'],
      'X-Forwarded-Host': ['{http.request.hostport}'],
      'X-Real-IP': ['{http.vars.client_ip}'],
    },
  },
}

import type { Db } from '../db/index.ts'
import type { Environment } from '../environments/store.ts'
import { listVariables } from '../environments/variable-store.ts'
import type { Project } from '../projects/store.ts'
import { listHeld } from '../runtime/endpoint-store.ts'
import { networkNameOf, overlayOf } from '../runtime/workload.ts'
import { getServiceByHost } from '../services/store.ts'
import type { Service, ServiceStatus } from '../services/store.ts'
import { listLinks } from './store.ts'
import type { Linked } from './store.ts'

/** `host` is undefined when the app's output doesn't name it. */
type Unreached = { isUnknown: boolean; host: string | undefined; port: string | undefined }

/** Only the last `lines` are checked, and `characters` of each. */
const maxChecked = { lines: 80, characters: 500 }

/** Clients' errors about unknown hosts and refused connections. Those that name the host are first. */
const unknown = [
  /getaddrinfo (?:ENOTFOUND|EAI_AGAIN) (?<host>[\w.-]+)/,
  /could not translate host name "(?<host>[^"]+)"/,
  /Unknown (?:\w+ )?server host '(?<host>[^']+)'/i,
  /lookup (?<host>[\w.-]+)(?: on \S+)?: (?:no such host|server misbehaving)/,
  /getaddrinfo for (?<host>[\w.-]+) failed/,
  /UnknownHostException: (?<host>[\w.-]+)/,
  /connecting to (?<host>[\w.-]+):(?<port>\d+)\. (?:Name or|Temporary)/,
  /Name or service not known|Temporary failure in name resolution|getaddrinfo failed|gaierror/,
]
const refused = [
  /connect E(?:CONNREFUSED|HOSTUNREACH) (?<host>[\da-f.:]+):(?<port>\d+)/,
  /server at "(?<host>[^"]+)"(?: \([^)]*\))?, port (?<port>\d+) failed/,
  /dial tcp \[?(?<host>[\da-f.:]+?)\]?:(?<port>\d+): (?:connect: )?(?:connection refused|no route)/,
  /connecting to (?<host>[\w.-]+):(?<port>\d+)\. ?Connection refused/,
  /Can't connect to (?:\w+ )?server on '(?<host>[^':]+)(?::(?<port>\d+))?'/,
  /Connection refused - connect\(2\) for "?(?<host>[\w.:-]+?)"? port (?<port>\d+)/,
  /Connection to (?<host>[\w.-]+):(?<port>\d+) refused/,
  /ECONNREFUSED|EHOSTUNREACH|Connection ?refused|No route to host/i,
]

/** Finds the host that an app couldn't reach, from its last lines; null when they don't report this. */
export function unreachedIn(lines: string[]): Unreached | null {
  let nameless: Unreached | null = null
  for (const line of lines.slice(-maxChecked.lines).toReversed()) {
    const text = line.slice(0, maxChecked.characters)
    for (const seen of [...unknown, ...refused]) {
      const match = seen.exec(text)
      if (!match) continue
      const { host, port } = match.groups ?? {}
      const found = { isUnknown: unknown.includes(seen), host, port }
      if (host) return found
      nameless ??= found
      break
    }
  }
  return nameless
}

/** Explains from its output what an app couldn't reach, and what to do; null when it doesn't say so. */
export function whyUnreached(
  deps: { db: Db },
  { project, environment, lines }: { project: Project; environment: Environment; lines: string[] },
): string | null {
  const unreached = unreachedIn(lines)
  if (!unreached) return null
  const of = { project, environment, unreached, linked: listLinks(deps.db, environment.id) }
  return `${said(unreached)} ${advice(deps, of)}`
}

const said = ({ isUnknown, host, port }: Unreached) =>
  isUnknown
    ? `Its output says that ${host ? `there is no host ${host}` : 'a host is unknown'}.`
    : `Its output says that ${host ? `${host}${port ? `, port ${port},` : ''} refused` : 'something refused'} the connection.`

type HintContext = {
  project: Project
  environment: Environment
  unreached: Unreached
  linked: Linked[]
}

function advice(deps: { db: Db }, of: HintContext): string {
  const { db } = deps
  const { project, environment, linked } = of
  const { host } = of.unreached
  const named = host ? getServiceByHost(db, { ownerId: project.ownerId, host }) : undefined
  const meant =
    linked.find(({ service }) => service.id === named?.id) ??
    linked.find(({ service }) => isPartOf(db, service, host))
  if (named && meant?.service.id !== named.id)
    return `That is your service ${named.name}, which the environment isn’t linked to. ${addLink}`
  if (meant) return stateOf(meant.service) ?? `${meant.service.name} runs. ${checkPort}`
  if (linked.length === 0) return `The environment isn’t linked to any service. ${addLink}`
  const isOwn = host !== undefined && /^(localhost|127\.[\d.]+|::1|0\.0\.0\.0)$/.test(host)
  const own = new Set(listVariables(db, environment.id).map(({ key }) => key))
  const sentences = [
    isOwn && 'That is the app’s own container, where no service runs.',
    ...linked.flatMap(({ link, service }) => [
      stateOf(service),
      ...Object.keys(link.variables)
        .filter((key) => own.has(key))
        .map(
          (key) => `${key} is set by hand and overrides the one from the link to ${service.name}.`,
        ),
    ]),
  ].filter(Boolean)
  const hosts = linked.map(({ service }) => service.host).join(', ')
  const keys = linked.flatMap(({ link }) => Object.keys(link.variables)).join(', ')
  const given = keys
    ? `Connect with the variables that they provide: ${keys}.`
    : 'They provide no variables. Edit the links to add some.'
  return [...sentences, `It is linked to ${hosts}. ${given}`].join(' ')
}

const addLink =
  'Choose “Add database” on its page: the app then gets the address and the password as variables. Then deploy again.'

const checkPort = 'Check the port, and that the app waits for it long enough. Then deploy again.'

/** True for a host name or an address of one of the service's components. */
const isPartOf = (db: Db, { id, host: own }: Service, host: string | undefined) =>
  host !== undefined &&
  own !== null &&
  (host.startsWith(`${own}-`) ||
    host.startsWith(`${own}.`) ||
    [networkNameOf({ id }), overlayOf(networkNameOf({ id }))].some((network) =>
      listHeld(db, network)
        .values()
        .some((address) => address === host),
    ))

/** Explains why a service can't be reached; null while it runs. */
function stateOf({ name, status }: Service): string | null {
  const known = states[status]
  return known ? `The service ${name} ${known}, then deploy again.` : null
}

const states: Partial<Record<ServiceStatus, string>> = {
  pulling: 'is still starting. Wait until it runs',
  creating: 'is still starting. Wait until it runs',
  starting: 'is still starting. Wait until it runs',
  unhealthy: 'is unhealthy. Check its log and restart it',
  stopped: 'is stopped. Start it',
  failed: 'failed to start. See its page, then start it',
}

import type { Domain } from '../addresses/store.ts'
import { nextAction } from '../deployments/next-action.ts'
import { domainsJson, leftOut, whyOff } from '../domains/json.ts'
import type { ShownDeps, ShownDomain } from '../domains/json.ts'
import { lookOf as lookOfDomain, problemOf } from '../domains/status.ts'
import { keyOf } from '../edge/plan.ts'
import { isStopCode } from '../runtime/crash-count.ts'
import { isAlmostFull, leastFree } from '../platform/disk-space.ts'
import { deploymentPath } from '../projects/deployment-list.tsx'
import { lookOfStatus } from '../web/status-badge.tsx'
import type { Look } from '../web/status-badge.tsx'
import { bytes, counted } from '../web/units.ts'
import type { Item } from './inventory.ts'
import type { Server } from './server.ts'
import { listTroubledDomains, listTroubledNames } from './store.ts'

export type Attention = {
  look: Look
  name: string
  href: string
  /** The problem, as far as it is known. */
  message: string
  /** The one thing that helps. */
  action: { name: string; href: string }
}

type AttentionQuery = {
  ownerId: string
  isAdmin: boolean
  items: Item[]
  server: Pick<Server, 'disk'>
}

/** The worst first: the server, running apps, failed deployments, services, domains. */
export function readAttention(deps: ShownDeps, of: AttentionQuery): Attention[] {
  const { ownerId, items } = of
  const apps = items.flatMap((item) => (item.kind === 'app' ? [item] : []))
  return [
    ...ofDisk(of),
    ...ofEdge(deps, of),
    ...apps.flatMap(ofRunning),
    ...apps.flatMap(ofDeployment),
    ...items.flatMap((item) => (item.kind === 'service' ? ofService(item) : [])),
    ...ofDomains(deps, ownerId),
  ]
}

function ofDisk({ isAdmin, server: { disk } }: AttentionQuery): Attention[] {
  if (!disk || !isAlmostFull(disk)) return []
  const href = isAdmin ? '/settings/prune' : '/docs/maintenance#clean-up-the-disk'
  return [
    {
      look: { word: 'Almost full', tone: 'bad', icon: 'triangle-alert' },
      name: 'Disk of the server',
      href,
      message: `${bytes(disk.free)} of ${bytes(disk.size)} are free. Builds need ${bytes(leastFree(disk))} to start.`,
      action: { name: isAdmin ? 'Clean up disk' : 'Read more', href },
    },
  ]
}

/** Problems of Caddy as a whole; those of a single host are listed with that host. */
function ofEdge({ edge }: ShownDeps, { isAdmin, items }: AttentionQuery): Attention[] {
  const { trouble, isOn, rejected } = edge
  if (!trouble || (isOn && rejected.length > 0) || (!isAdmin && items.length === 0)) return []
  const href = isAdmin ? '/settings/edge' : '/docs/edge#when-something-is-down'
  return [
    {
      look: { word: isOn ? 'Not up to date' : 'Not served', tone: 'bad', icon: 'x' },
      ...{ name: 'Domains of this server', href },
      message: isAdmin ? `${trouble.message} ${trouble.hint}` : forMembers,
      action: { name: isAdmin ? 'Open edge settings' : 'Read more', href },
    },
  ]
}

/** Caddy's own message may contain other users' hosts, and files of the server. */
const forMembers = 'Caddy has a problem. Ask an admin to look at it.'

type App = Extract<Item, { kind: 'app' }>

function ofRunning({ app, isUp, look, name, href }: App): Attention[] {
  const isStopped = isStopCode(app.current?.errorCode)
  if (look.tone !== 'bad' || !(isUp || isStopped)) return []
  const message = app.current?.errorMessage ?? messages[look.word] ?? 'It isn’t running correctly.'
  return [{ look, name, href, message, action: { name: 'View logs', href: `${href}/output` } }]
}

const messages: Record<string, string> = {
  'Crash-looping': 'It keeps crashing shortly after its start.',
  Unhealthy: 'Some of its containers don’t respond.',
}

function ofDeployment({ app, name }: App): Attention[] {
  const { latest, projectId } = app
  if (latest?.status !== 'failed') return []
  const href = deploymentPath({ id: latest.id, projectId })
  const place = { project: { id: projectId }, environment: app }
  return [
    {
      ...{ look: lookOfStatus('failed'), name, href },
      message: `Deployment #${latest.number} failed. ${latest.errorMessage ?? ''}`,
      action: nextAction(latest, place) ?? { name: 'See why', href },
    },
  ]
}

function ofService({ service, look, name, href }: Extract<Item, { kind: 'service' }>): Attention[] {
  if (look.tone !== 'bad') return []
  const message = service.errorMessage ?? messages[look.word] ?? 'It isn’t running correctly.'
  return [{ look, name, href, message, action: { name: 'Open service', href } }]
}

/** Empty while no domain is served at all, since `ofEdge` already reports that. */
function ofDomains(deps: ShownDeps, ownerId: string): Attention[] {
  const { edge, db } = deps
  if (whyOff(deps)) return []
  const rejected = edge.rejected.flatMap((one) => ('host' in one ? [one.host] : []))
  const given = listTroubledDomains(db, { ownerId, rejected })
  return [
    ...ofRows(deps, given),
    ...together(deps, ofRows(deps, listTroubledNames(deps, { ownerId, rejected }), isBroken)),
  ]
}

/** Automatic names often fail together, when one DNS record is missing, so only the first is listed. */
function together({ config }: ShownDeps, names: Attention[]): Attention[] {
  const [first, ...more] = names
  if (!first || more.length === 0) return names
  const rest = counted(more.length, 'other address', 'other addresses')
  return [{ ...first, message: `${first.message} Also failing under ${config.domain}: ${rest}.` }]
}

const isBad = ({ look }: { look: Look }) => look.tone === 'bad'

/** Users don't add DNS records for these names themselves, so a missing one needs attention too. */
const isBroken = ({ look, dns }: { look: Look } & Pick<ShownDomain, 'dns'>) =>
  isBad({ look }) || dns.ok === false

function ofRows(deps: ShownDeps, rows: Domain[], isTrouble: typeof isBroken = isBad): Attention[] {
  const rejected = leftOut(deps, rows)
  return domainsJson(deps, rows, { expected: [] }).flatMap((domain, at): Attention[] => {
    const row = rows[at]!
    const look = lookOfDomain(domain, { off: null, rejected })
    if (!isTrouble({ ...domain, look })) return []
    const of = row.environmentId ? `/envs/${row.environmentId}` : `/services/${row.serviceId}`
    const href = `${of}/domains`
    return [
      {
        ...{ look, name: keyOf(row.host, row), href },
        message: rejected.get(row.host)?.message ?? problemOf(domain)?.message ?? look.word,
        action: { name: 'Open domains', href },
      },
    ]
  })
}

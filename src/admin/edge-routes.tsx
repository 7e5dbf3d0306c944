import type { Context } from 'hono'
import { davitHost, planOf } from '../addresses/plan.ts'
import type { Config } from '../config.ts'
import type { Apart, Docker } from '../docker/index.ts'
import type { Db } from '../db/index.ts'
import type { CertificateKeeper } from '../domains/certificate-keeper.ts'
import { listTroubled } from '../domains/certificate-store.ts'
import type { RejectedHost } from '../edge/plan.ts'
import type { Edge } from '../edge/edge.ts'
import type { Failure } from '../platform/errors.ts'
import { factory } from '../web/factory.ts'
import { requireAdmin } from '../web/user-of.ts'
import { show } from '../web/respond.tsx'
import { within } from '../platform/pause.ts'
import { settingsView } from '../web/settings-frame.tsx'
import { EdgePanel, edgePath } from './edge-page.tsx'

type EdgeDeps = {
  config: Config
  db: Db
  edge: Edge
  certificates: Pick<CertificateKeeper, 'expected'>
  docker: Pick<Docker, 'whyApart'>
}

/** Milliseconds that the page waits for the engine's answer. */
const engineTimeoutMs = 1000

/** Only for admins: who serves domains, and any problems. */
export const edgeRoutes = (deps: EdgeDeps) =>
  factory.createApp().get(edgePath, requireAdmin, async (c) => {
    const asked = deps.docker.whyApart({ signal: c.req.raw.signal }).catch(() => null)
    return show(c, view(c, deps, (await within(engineTimeoutMs, asked)) ?? null))
  })

const view = (c: Context, { config, db, edge, certificates }: EdgeDeps, apart: Apart | null) => {
  const { mode, trouble, caddy } = edge
  // failures of deleted names are kept for a while; secrets stay sealed
  const plan = planOf({ db, config, secrets: { open: () => '' } })
  const hosts = new Set(plan.hosts.map(({ name }) => name))
  const own = edge.isOn ? davitHost(config) : null
  const state = {
    setting: config.edge,
    mode,
    ports: config.edgePorts,
    domain: config.domain,
    davit: own && own.name,
    caddy,
    trouble: edge.rejected.some(({ failure }) => failure === trouble) ? null : trouble,
    leftOut: edge.rejected,
    publicAddresses: [...certificates.expected],
    troubled: listTroubled(db).filter(({ host }) => hosts.has(host)),
  }
  return settingsView(c, {
    path: edgePath,
    title: 'Edge',
    list: () => <EdgePanel state={state} apart={apart} />,
    live: { every: 5 },
    json: () => ({
      ...state,
      trouble: state.trouble && failureJson(state.trouble),
      leftOut: state.leftOut.map(leftOutJson),
      troubled: state.troubled.map(({ host, status, errorMessage, errorHint, nextTryAt }) => ({
        ...{ host, status, nextTryAt },
        error: { message: errorMessage!, hint: errorHint },
      })),
    }),
  })
}

const failureJson = ({ code, message, hint }: Failure) => ({ code, message, hint })

const leftOutJson = ({ failure, ...one }: RejectedHost) => ({
  host: 'host' in one ? one.host : null,
  port: 'port' in one ? one.port : null,
  ...failureJson(failure),
})

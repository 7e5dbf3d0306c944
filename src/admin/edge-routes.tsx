import type { Context } from 'hono'
import { davitHost, planOf } from '../addresses/plan.ts'
import type { Config } from '../config.ts'
import type { Apart, Docker } from '../docker/index.ts'
import type { Db } from '../db/index.ts'
import type { CertificateKeeper } from '../domains/certificate-keeper.ts'
import { listTroubled } from '../domains/certificate-store.ts'
import type { RejectedHost } from '../edge/plan.ts'
import type { Edge, Mode } from '../edge/edge.ts'
import type { Failure } from '../platform/errors.ts'
import { factory } from '../web/factory.ts'
import { requireAdmin } from '../web/user-of.ts'
import { show } from '../web/respond.tsx'
import { within } from '../platform/pause.ts'
import { settingsView } from '../web/settings-frame.tsx'
import type { Child } from 'hono/jsx'
import { Fact, Trouble, DocLink } from '../web/components.tsx'
import { Live } from '../web/live.tsx'
import { Ago, In } from '../web/times.tsx'

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

function stateOf({ config, db, edge, certificates }: EdgeDeps) {
  const { mode, trouble, caddy } = edge
  // failures of deleted names are kept for a while; secrets stay sealed
  const plan = planOf({ db, config, secrets: { open: () => '' } })
  const hosts = new Set(plan.hosts.map(({ name }) => name))
  const own = edge.isOn ? davitHost(config) : null
  return {
    setting: config.edge,
    mode,
    ports: config.edgePorts,
    domain: config.domain,
    davit: own && own.name,
    caddy,
    trouble: edge.rejected.some(({ failure }) => failure === trouble) ? null : trouble,
    leftOut: edge.rejected,
    publicAddresses: [...certificates.expected],
    /** Hosts with a DNS or certificate problem. */
    troubled: listTroubled(db).filter(({ host }) => hosts.has(host)),
  }
}

type State = ReturnType<typeof stateOf>

const view = (c: Context, deps: EdgeDeps, apart: Apart | null) => {
  const state = stateOf(deps)
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

const edgePath = '/settings/edge'

const EdgePanel = ({ state, apart }: { state: State; apart: Apart | null }) => {
  const { setting, mode, ports, domain, davit, caddy, trouble, leftOut } = state
  const { publicAddresses, troubled } = state
  return (
    <Live as="section" id="edge" aria-label="Edge">
      <div class="section-head">
        <p class="muted">{abouts[mode]}</p>
      </div>
      {trouble && (
        <Trouble title={titleOf(state)} hint={trouble.hint}>
          <p dir="auto">{trouble.message}</p>
        </Trouble>
      )}
      {leftOut.map((one) => (
        <Trouble
          title={'host' in one ? `${one.host} isn’t served` : `Port ${one.port} isn’t served`}
          hint={one.failure.hint}
        >
          <p dir="auto">{one.failure.message}</p>
        </Trouble>
      ))}
      <dl class="facts">
        <Fact name="Served by">{servers[mode]}</Fact>
        {apart && (
          <Fact name="Docker">
            <DocLink doc="remote">{places[apart]}</DocLink>
          </Fact>
        )}
        <Fact name="Setting">
          <code>DAVIT_EDGE={setting}</code>
        </Fact>
        {caddy?.version && <Fact name="Caddy">{caddy.version}</Fact>}
        {caddy?.loadedAt && (
          <Fact name="Configured">
            <Ago at={caddy.loadedAt} />
          </Fact>
        )}
        {setting !== 'direct' && (
          <Fact name="Ports">
            {ports.http} for HTTP, {ports.https} for HTTPS
          </Fact>
        )}
        <Fact name="Domain">
          {domain ?? <Unset name="DAVIT_DOMAIN">Environments have no names of their own.</Unset>}
        </Fact>
        <Fact name="Public address">
          {publicAddresses.length > 0 ? (
            <code>{publicAddresses.join(', ')}</code>
          ) : (
            <Unset name="DAVIT_PUBLIC_ADDRESS">
              Davit couldn’t detect it, so it can’t check whether domains point to this server.
            </Unset>
          )}
        </Fact>
        {davit && <Fact name="Davit’s pages">{davit}</Fact>}
      </dl>
      <Troubled hosts={troubled} />
    </Live>
  )
}

const Troubled = ({ hosts }: { hosts: State['troubled'] }) =>
  hosts.length > 0 && (
    <section class="troubled" aria-labelledby="troubled-heading">
      <h2 id="troubled-heading">Domains that need attention</h2>
      <ul class="rows">
        {hosts.map(({ host, errorMessage, errorHint, checkedAt, nextTryAt }) => (
          <li class="row">
            <div class="row-main">
              <strong>{host}</strong>
              <p dir="auto">{errorMessage}</p>
              {errorHint && (
                <p class="muted" dir="auto">
                  {errorHint}
                </p>
              )}
              <p class="row-facts">
                {checkedAt && (
                  <span>
                    checked <Ago at={checkedAt} />
                  </span>
                )}
                {nextTryAt && nextTryAt > new Date() && (
                  <span>
                    next check <In at={nextTryAt} />
                  </span>
                )}
              </p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )

const Unset = ({ name, children }: { name: string; children: Child }) => (
  <span class="muted">
    <code>{name}</code> isn’t set. {children}
  </span>
)

const titleOf = ({ setting, mode }: State) => {
  if (mode !== 'direct') return 'The edge has a problem'
  return setting === 'external' ? 'Your Caddy doesn’t serve domains' : 'Caddy isn’t running'
}

const places: Record<Apart, string> = {
  remote: 'On another machine: apps are reached there by their ports',
  rootless: 'Rootless: apps are reached by their ports',
}

const servers: Record<Mode, string> = {
  caddy: 'Caddy, run by Davit',
  external: 'Your own Caddy',
  direct: 'Each app’s own port',
}

const abouts: Record<Mode, string> = {
  caddy:
    'Davit runs Caddy, which serves domains and HTTPS and switches between versions of an app.',
  external: 'Your own Caddy serves domains and HTTPS and switches between versions of an app.',
  direct: 'Domains aren’t served: each app is reached by its port.',
}

import type { Child } from 'hono/jsx'
import type { Config } from '../config.ts'
import type { Apart } from '../docker/index.ts'
import type { Certificate } from '../domains/certificate-store.ts'
import type { RejectedHost } from '../edge/plan.ts'
import type { Mode } from '../edge/edge.ts'
import type { Failure } from '../platform/errors.ts'
import { Fact, Trouble, DocLink } from '../web/components.tsx'
import { Live } from '../web/live.tsx'
import { Ago, In } from '../web/times.tsx'

export const edgePath = '/settings/edge'

type State = {
  setting: Config['edge']
  mode: Mode
  ports: Config['edgePorts']
  domain: string | null
  /** The host of Davit's own pages. */
  davit: string | null
  caddy: { version: string | null; loadedAt: Date | null } | null
  trouble: Failure | null
  leftOut: readonly RejectedHost[]
  /** The addresses that domains should resolve to. */
  publicAddresses: string[]
  /** Hosts with a DNS or certificate problem. */
  troubled: Certificate[]
}

export const EdgePanel = ({ state, apart }: { state: State; apart: Apart | null }) => {
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
